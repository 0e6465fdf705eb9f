import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home } from '../support/cli.ts';

/*
 * The files of version 0.1.0: profiles, a bulk run stopped after two of six rows, received webhooks, and the data of their
 * sandbox. The settings contain its address, so it is started there again.
 */
const LEFT = join(import.meta.dirname, '../fixtures/state-0.1');
const [HOST, PORT] = ['127.0.0.77', '43917'];
const ENVELOPE = 'env_7abb1218c8b0e9345d0a';

const home = new Home();
beforeAll(async () => {
  if (process.platform === 'darwin') return;
  for (const folder of ['config', 'state', 'sandbox'])
    cpSync(join(LEFT, folder), home.path(folder), { recursive: true });
  await home.start`sandbox start --host ${HOST} --port ${PORT} --data sandbox --json`.object();
});
afterAll(() => home.close());

// macOS has no second loopback address.
describe.skipIf(process.platform === 'darwin')('an upgrade from 0.1.0', () => {
  it('keeps the profiles', async () => {
    expect(await home.json`profiles list`).toMatchObject([
      { name: 'sandbox', current: true },
      { name: 'other', storage: { bucket: 'b1' } },
    ]);
  });

  it("keeps the sandbox's envelopes, and a copy of the original file", async () => {
    expect(await home.object`envelopes get ${ENVELOPE}`).toMatchObject({ status: 'COMPLETED' });
    const before = readFileSync(join(LEFT, 'sandbox/service.jsonl'), 'utf8');
    expect(readFileSync(home.path('sandbox/service.jsonl.0.1'), 'utf8')).toBe(before);
  });

  it('resumes a stopped bulk run, each row once', async () => {
    expect(await home.run`bulk resume --last`).toMatchObject({ code: 0 });
    expect(await home.json`envelopes list`).toHaveLength(7);
    expect(await home.json`bulk list`).toMatchObject([{ done: 6, total: 6 }]);
  });

  it('keeps the received webhooks', async () => {
    expect(await home.json`events list`).toHaveLength(5);
  });
});
