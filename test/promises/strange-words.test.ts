import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { argv } from '../support/argv.ts';
import { Home, reportedError } from '../support/cli.ts';
import { answerPage, type FakeService, fakeService } from '../support/fake-service.ts';
import { json } from '../support/server.ts';

/* Values of the service that are properties of every object: our tables treat them like any other. */
const WORDS = ['constructor', 'toString', '__proto__'];
const home = new Home();
let service: FakeService;

function envelope(index: number) {
  const word = WORDS[index] ?? '';
  const signer = { id: 'signer_1', email: 'ada@example.com', name: word, role: word, status: word };
  return { id: `env_${index}`, status: word, signingOrder: word, signers: [signer] };
}

beforeAll(async () => {
  service = await fakeService((request, response) => {
    const word = request.path.split('/').at(-1) ?? '';
    if (WORDS.includes(word)) return json(response, 400, { error: { code: word, message: 'no' } });
    if (word.startsWith('env_')) return json(response, 200, { data: envelope(Number(word.slice(4))) });
    return answerPage(request, response, WORDS.length, envelope);
  });
});
afterAll(async () => {
  await service.server.close();
  await home.close();
});

describe.each(WORDS)('the value %s', (word) => {
  const id = `env_${WORDS.indexOf(word)}`;

  it('is shown unchanged as a status, even in color', async () => {
    const { code, stdout } = await home.run(argv`envelopes get ${id}`, {
      env: { ...service.env, FORCE_COLOR: '1' },
    });
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`\\? ${word} <ada@example.com>, ${word} +${word.toLowerCase()}`));
    expect(stdout).not.toMatch(/native code|\[object/);
  });

  it('is skipped by a search as a status', async () => {
    const find = argv`find ada --status SENT --json`;
    // The second search reads the index.
    for (let time = 0; time < 2; time++) {
      const { code, stdout, stderr } = await home.run(find, { env: service.env });
      expect([code, stdout.trim(), stderr]).toEqual([0, '[]', expect.not.stringContaining('TypeError')]);
    }
  });

  it('exits with 1 and one line of JSON as an error code', async () => {
    const finished = await home.run(argv`envelopes get ${word} --json`, { env: service.env });
    expect([finished.code, reportedError(finished)]).toEqual([
      1,
      expect.objectContaining({
        code: word,
        exitCode: 1,
        hint: expect.stringContaining('--debug') as unknown,
      }),
    ]);
  });

  it('is not a command', async () => {
    const { code, stderr } = await home.run([word]);
    expect([code, stderr]).toEqual([2, expect.not.stringMatching(/native code|\[object/)]);
  });
});
