import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home, jsonLines, reportedError } from '../support/cli.ts';
import { type FakeService, fakeService, serviceOfOne } from '../support/fake-service.ts';
import { json } from '../support/server.ts';

const home = new Home();
let service: FakeService;
beforeAll(async () => {
  service = await serviceOfOne();
});
afterAll(async () => {
  await home.close();
  await service.server.close();
});

describe('stdin', () => {
  it.each(['envelopes get - -', 'envelopes get - env_1 -'])('is read once: %s', async (line) => {
    const args = [...line.split(' '), '--json'];
    const run = await home.run(args, { env: service.env, input: 'env_1\n' });
    expect([run.code, jsonLines(run.stdout)]).toMatchObject([0, [{ id: 'env_1', ok: true }]]);
  });

  it('can be read by one flag only', async () => {
    const create = 'envelopes create --template tmpl_1 --signers-file - --message-file - --send --json';
    const before = service.server.seen.length;
    const run = await home.run(create.split(' '), {
      env: service.env,
      input: '[{"email":"ada@example.com","name":"Ada"}]',
    });
    expect(reportedError(run)).toMatchObject({ code: 'USAGE', exitCode: 2 });
    expect(service.server.seen.slice(before).filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('can be the secret that signs the webhooks', async () => {
    const refusing = await fakeService((request, response) =>
      request.method === 'POST'
        ? json(response, 400, { error: { code: 'VALIDATION_ERROR', message: 'no' } })
        : json(response, 200, { data: { id: 'tmpl_1' } }),
    );
    const create =
      'envelopes create --template tmpl_1 --signer a@b.c --webhook-url https://example.com/hooks';
    await home.run([...create.split(' '), '--webhook-secret-file', '-'], {
      env: refusing.env,
      input: 'whsec_from_stdin\n',
    });
    await refusing.server.close();
    const posts = refusing.server.seen.filter(({ method }) => method === 'POST');
    expect(posts.map(({ body }) => body)).toEqual([
      expect.stringContaining('"webhookSecret":"whsec_from_stdin"'),
    ]);
  });

  it("doesn't make a command exit with 0 before it is done", async () => {
    // An input that never ends and doesn't keep a process alive.
    await writeFile(
      home.path('endless.cjs'),
      "const { Readable } = require('node:stream'); Object.defineProperty(process, 'stdin', { value: new Readable({ read() {} }) });",
    );
    const run = await home.run(['envelopes', 'get', '-', '--json'], {
      env: { ...service.env, NODE_OPTIONS: `--require ${home.path('endless.cjs')}` },
    });
    expect(reportedError(run)).toMatchObject({ code: 'UNEXPECTED', exitCode: 1 });
    expect(run.code).toBe(1);
  });
});
