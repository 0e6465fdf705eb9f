import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isList, isRecord } from '../../src/kernel/json.ts';
import { Home } from '../support/cli.ts';

/*
 * The files of version 0.2.0: profiles, a webhook secret, a finished bulk run and one killed after two of six rows, a reminder,
 * a replacement, a pin, the index, received webhooks, and the data of their sandbox.
 */
const LEFT = join(import.meta.dirname, '../fixtures/state-0.2');
const [HOST, PORT] = ['127.0.0.78', '43918'];
const REPLACED = 'env_139e0887b8c6c9734746';
const REPLACEMENT = 'env_e5598d09993cd504dc4b';

const home = new Home();
beforeAll(async () => {
  if (process.platform === 'darwin') return;
  for (const folder of ['config', 'state', 'sandbox'])
    cpSync(join(LEFT, folder), home.path(folder), { recursive: true });
  // By the clock of that day, so that nothing has expired.
  const clock = '2026-11-23T00:00:00Z';
  await home.start`sandbox start --host ${HOST} --port ${PORT} --data sandbox --clock ${clock} --json`.object();
});
afterAll(() => home.close());

// macOS has no second loopback address.
describe.skipIf(process.platform === 'darwin')('an upgrade from 0.2.0', () => {
  it('keeps the profiles and pins', async () => {
    expect(await home.json`profiles list`).toMatchObject([
      { name: 'sandbox', current: true },
      { name: 'other', storage: { bucket: 'b1' } },
    ]);
    expect(await home.json`documents pins`).toHaveLength(1);
  });

  it('finds envelopes in the index', async () => {
    expect(await home.json`find ada --cached`).toMatchObject([{ status: 'COMPLETED' }]);
  });

  it('shows the signers of the finished run', async () => {
    expect(await home.json`bulk status run-20261122-234852496-ad9570de`).toMatchObject([
      { email: 'zoe@example.com', state: 'waiting' },
    ]);
  });

  it('resumes the run that was killed, each row once', async () => {
    expect(await home.run`bulk resume run-20261122-234848250-aac23475`).toMatchObject({ code: 0 });
    const runs = await home.json`bulk list`;
    expect(runs).toMatchObject([{ total: 1 }, { done: 6, total: 6, state: 'finished' }]);
    expect(await home.json`envelopes list --all`).toHaveLength(11);
    expect(await home.json`bulk status run-20261122-234848250-aac23475`).toHaveLength(6);
  });

  it('keeps the request IDs, replacements, and received webhooks', async () => {
    const again = ['--template', 'tmpl_nda', '--signer', 'Ada Lovelace <ada@example.com>;role=Signer'];
    const { stdout } = await home.run(['envelopes', 'create', ...again, '--request-id', 'order-1', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'COMPLETED' });
    const { stdout: replaced } = await home.run([
      ...['envelopes', 'replace', REPLACED, '--signer', 'bob@example.com=Bob Right <bob.right@example.com>'],
      ...['--yes', '--json'],
    ]);
    expect(JSON.parse(replaced)).toMatchObject({ new: { id: REPLACEMENT } });
    expect(await home.json`events list`).toHaveLength(4);
    const mails = await home.json`sandbox mails --to bob.right@example.com`;
    const requests = isList(mails) ? mails.filter((mail) => isRecord(mail) && mail.kind === 'request') : [];
    expect(requests).toHaveLength(1);
  });

  it('starts a log that verifies', async () => {
    await home.run`envelopes cancel ${REPLACEMENT} --yes`;
    expect(await home.run`log verify`).toMatchObject({ code: 0 });
  });
});
