import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { holdingsOf, resumeThroughKills, rowsOf } from '../support/bulk-check.ts';
import { Home, type Sandbox } from '../support/cli.ts';
import { seeded } from '../support/faulty-proxy.ts';

const ROWS = Number(process.env.BULK_ROWS ?? 10_000);
const SEED = Number(process.env.FAULT_SEED ?? Date.now() % 2 ** 32);
const KILLS = 10;

const home = new Home();
let sandbox: Sandbox;
beforeAll(async () => {
  process.stdout.write(`bulk faults: BULK_ROWS=${ROWS} FAULT_SEED=${SEED}\n`);
  sandbox = await home.sandbox(['--rate-limit', '10000000/15m']);
});
afterAll(() => home.close());

describe('ten thousand rows', () => {
  it(`killed ${KILLS} times, with 5 % of replies lost: each signer is mailed once`, {
    timeout: 1_800_000,
  }, async () => {
    await writeFile(home.path('rows.csv'), rowsOf(ROWS));
    await writeFile(
      home.path('faults.json'),
      JSON.stringify({ lostReply: { match: 'POST /esign/envelopes', rate: 0.05 } }),
    );
    await home.json(['sandbox', 'faults', 'faults.json']);
    const random = seeded(SEED);
    const delays = Array.from({ length: KILLS }, () => 400 + random() * Math.max(800, ROWS / 2));
    const first = ['bulk', 'create', 'rows.csv', '--template', 'tmpl_nda', '--send', '--yes', '--json'];
    const { code, stderr, kills } = await resumeThroughKills(home, first, delays);
    process.stdout.write(`bulk faults: ${kills} kills, ended with ${code} ${stderr}\n`);
    expect(code).toBe(0);
    const { perSigner, drafts, statuses } = await holdingsOf(sandbox);
    process.stdout.write(`bulk faults: ${JSON.stringify(Object.fromEntries(statuses))}\n`);
    expect(perSigner.size).toBe(ROWS);
    expect([...perSigner].filter(([, count]) => count !== 1)).toEqual([]);
    expect(drafts).toBe(0);
  });
});

describe('the journal of a run', () => {
  it('with a torn last line is mended; from another version it is refused; neither mails anybody twice', async () => {
    await home.run(['sandbox', 'reset', '--yes']);
    await writeFile(home.path('three.csv'), rowsOf(3));
    const words = [
      'bulk',
      'create',
      'three.csv',
      '--template',
      'tmpl_nda',
      '--send',
      '--yes',
      '--max-requests',
      '3',
      '--concurrency',
      '1',
    ];
    expect((await home.run(words)).code).toBe(10);
    const [id = ''] = (await home.run(['bulk', 'list', '-q', '-L', '1'])).stdout.split('\n');
    const path = join(home.path('state', 'bulk', id), 'journal.jsonl');
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace('"version":1', '"version":9'));
    const other = await home.run(['bulk', 'resume', id]);
    expect(other.code).toBe(2);
    expect(other.stderr).toContain("can't be used");
    await writeFile(path, `${text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1)}{"type":"crea`);
    expect((await home.run(['bulk', 'resume', id])).code).toBe(0);
    const { perSigner, drafts } = await holdingsOf(sandbox);
    expect([perSigner.size, [...perSigner.values()].every((count) => count === 1), drafts]).toEqual([
      3,
      true,
      0,
    ]);
  });

  it('that cannot be written stops everything before the first request', async () => {
    await home.run(['sandbox', 'reset', '--yes']);
    await writeFile(home.path('file'), '');
    const run = await home.run(
      ['bulk', 'create', 'three.csv', '--template', 'tmpl_nda', '--send', '--yes', '--json'],
      {
        env: { ESIGN_STATE_DIR: home.path('file', 'state') },
      },
    );
    expect(run.code).toBe(2);
    expect((await holdingsOf(sandbox)).perSigner.size).toBe(0);
  });
});
