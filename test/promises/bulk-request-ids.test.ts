import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/kernel/json.ts';
import { holdingsOf } from '../support/bulk-check.ts';
import { Home, jsonLines, reportedError, type Sandbox } from '../support/cli.ts';

const home = new Home();
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await home.sandbox(['--rate-limit', '1000000/15m']);
});
afterAll(() => home.close());
beforeEach(async () => {
  await home.run`sandbox reset --yes`;
});

const BULK = ['bulk', 'create', 'ids.csv', '--template', 'tmpl_nda', '--send', '--yes', '--json'];
/** Rows with the request IDs PREFIX-0, PREFIX-1, … for s0@example.com, s1@example.com, … */
async function rows(prefix: string, count: number): Promise<void> {
  const lines = Array.from({ length: count }, (_, n) => `s${n}@example.com,S ${n},${prefix}-${n}\n`);
  await writeFile(home.path('ids.csv'), `email,name,request_id\n${lines.join('')}`);
}
const createOne = (id: string, signer: string, template = 'tmpl_nda') => [
  ...['envelopes', 'create', '--template', template, '--signer', signer],
  ...['--request-id', id, '--send', '--json'],
];
const elsewhere = { env: { ESIGN_STATE_DIR: home.path('other-state') } };

describe('request IDs in a list', () => {
  it('create one envelope each while other processes create with the same IDs', async () => {
    await rows('both', 8);
    const ids = [1, 3, 5, 7];
    const processes = [BULK, ...ids.map((n) => createOne(`both-${n}`, `S ${n} <s${n}@example.com>`))].map(
      (words) => {
        const running = home.start(words);
        running.child.stdout?.resume();
        return running.ended;
      },
    );
    expect((await Promise.all(processes)).map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
    const { perSigner, mails, drafts } = await holdingsOf(sandbox);
    const once = new Map(Array.from({ length: 8 }, (_, n) => [`s${n}@example.com`, 1]));
    expect([new Map([...perSigner].sort()), new Map([...mails].sort()), drafts]).toEqual([once, once, 0]);
  });

  it('are refused before anything is sent if another machine used them for other content', async () => {
    const used = await home.object(createOne('used-1', 'Eve <eve@example.com>'), elsewhere);
    await rows('used', 3);
    for (const words of [BULK, BULK.map((word) => (word === '--send' ? '--dry-run' : word))]) {
      const run = await home.run(words);
      expect(run.code).toBe(2);
      expect(String(reportedError(run).message)).toMatch(new RegExp(`ids\\.csv:3 .*${String(used.id)}`));
    }
    expect((await holdingsOf(sandbox)).perSigner).toEqual(new Map([['eve@example.com', 1]]));
  });

  it('are skipped if another machine used them for the same content, and refused if it was canceled', async () => {
    const same = await home.object(createOne('m-0', 'S 0 <s0@example.com>'), elsewhere);
    const canceled = await home.object(createOne('m-1', 'S 1 <s1@example.com>'), elsewhere);
    await home.json(['envelopes', 'cancel', String(canceled.id), '--yes']);
    await rows('m', 3);
    const run = await home.run(BULK);
    expect(run.code).toBe(10);
    const byRow = new Map(jsonLines(run.stdout).map((line) => [isRecord(line) ? line.row : 0, line]));
    expect([1, 2, 3].map((row) => byRow.get(row))).toMatchObject([
      { ok: true, status: 'EXISTING', envelopeId: same.id },
      { ok: false, error: { code: 'INVALID_STATE' } },
      { ok: true, status: 'SENT' },
    ]);
    const { mails } = await holdingsOf(sandbox);
    expect([...mails.values()]).toEqual([1, 1, 1]);
  });
});
