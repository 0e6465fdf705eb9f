import { writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isList, isRecord } from '../../src/kernel/json.ts';
import { Home, linesOf } from '../support/cli.ts';

const SECRET = 'canary-secret-0123456789';
const DAY = 86_400_000;
let home: Home;

const create = async (...more: string[]) => {
  const words = ['envelopes', 'create', '--template', 'tmpl_nda', '--send', ...more];
  return String((await home.object`${words}`).id);
};
async function late(...flags: string[]) {
  const list = await home.json(['late', ...flags]);
  return isList(list) ? list.filter(isRecord) : [];
}
const ofEnvelope = async (id: string) => (await late()).find(({ envelopeId }) => envelopeId === id);

// Each test advances the clock, and its signatures change what is usual.
beforeEach(async () => {
  home = new Home({ ESIGN_WEBHOOK_SECRET: SECRET });
  await home.sandbox();
});
afterEach(() => home.close());

describe('late', () => {
  it('shows a signer after the usual time, with the command to run next, until the turn ends', async () => {
    const id = await create('--signer', 'Ada <ada@example.com>');
    expect(await late()).toEqual([]);
    await home.run`sandbox advance 8d`;
    const [first] = await late();
    expect(first).toMatchObject({
      envelopeId: id,
      signer: { name: 'Ada', email: 'ada@example.com' },
      usual: { percentileMs: 7 * DAY, basis: 'default', samples: 0 },
      opened: null,
      remindedAt: null,
      next: `esign envelopes remind ${id} --signer=ada@example.com`,
    });
    expect(Number(first?.waitingMs)).toBeGreaterThan(7.9 * DAY);
    expect(Date.parse(String(first?.expiresAt))).toBeGreaterThan(Date.parse(String(first?.since)));

    await home.run`envelopes remind ${id} --yes`;
    const reminded = await ofEnvelope(id);
    expect(Date.parse(String(reminded?.remindedAt))).toBeGreaterThan(Date.parse(String(first?.since)));
    expect(reminded?.next).toBe(`esign envelopes get ${id}`);

    await home.run`sandbox sign ${id}`;
    expect(await ofEnvelope(id)).toBeUndefined();
  });

  it('prints envelope and signer with -q, and nothing if nobody is late', async () => {
    const id = await create('--signer', 'ada@example.com', '--signer', 'bo@example.com');
    await home.run`sandbox advance 8d`;
    const people = (await late()).map(({ signer }) => isRecord(signer) && String(signer.id));
    expect(people).toHaveLength(2);
    expect(linesOf((await home.run`late -q`).stdout)).toEqual(people.map((person) => `${id} ${person}`));
    expect(linesOf((await home.run`late --after 7d --signer bo@example.com -q`).stdout)).toHaveLength(1);
    for (const nobody of [
      ['--signer', 'nobody'],
      ['--after', '9d'],
    ])
      expect(await home.run(['late', ...nobody, '-q'])).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  it('shows who has opened the envelope, from a verified webhook or the status of the signer', async () => {
    await writeFile(home.path('secret'), SECRET);
    const listening = home.background`listen --port 0 --json`;
    const { url } = await listening.object();
    const webhook = ['--webhook-url', String(url), '--webhook-secret-file', 'secret'];
    const id = await create('--signer', 'ada@example.com', '--signer', 'bo@example.com', ...webhook);
    await listening.object();
    await home.run`sandbox advance 8d`;
    await home.run`sandbox view ${id} --signer ada@example.com`;
    await listening.object();
    const opened = await late();
    expect(opened.find(({ signer }) => isRecord(signer) && signer.email === 'ada@example.com')).toMatchObject(
      {
        opened: true,
      },
    );
    expect(opened.find(({ signer }) => isRecord(signer) && signer.email === 'bo@example.com')).toMatchObject({
      opened: null,
    });
    await listening.stop();
  });
});
