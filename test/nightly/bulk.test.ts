import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { argv } from '../support/argv.ts';
import { expectOnce, resumeThroughKills, rowsOf } from '../support/bulk-check.ts';
import { Home, type Sandbox } from '../support/cli.ts';
import { seeded } from '../support/seeded.ts';

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
beforeEach(async () => {
  await home.run`sandbox reset --yes`;
});

const create = (file: string, ...more: string[]) =>
  argv`bulk create ${file} --template tmpl_nda --send --yes --json ${more}`;
const faults = (set: unknown) => home.faults(set);

describe('ten thousand rows', () => {
  it(`are each sent exactly once with ${KILLS} kills and 5% of responses lost`, {
    timeout: 3_600_000,
  }, async () => {
    await writeFile(home.path('rows.csv'), rowsOf(ROWS));
    await faults({ lostReply: { match: 'POST /esign/envelopes', rate: 0.05 } });
    const random = seeded(SEED);
    const delays = Array.from({ length: KILLS }, () => 400 + random() * Math.max(800, ROWS / 2));
    const ended = await resumeThroughKills(home, create('rows.csv'), delays);
    process.stdout.write(`bulk faults: ${ended.kills} kills, ended with ${ended.code} ${ended.stderr}\n`);
    await faults({});
    expect(ended.code).toBe(0);
    await expectOnce(sandbox, ROWS);
  });

  it('are each sent exactly once with responses lost, truncated, late, or refused, and connections reset', {
    timeout: 1_800_000,
  }, async () => {
    const rows = Math.min(ROWS, 2_000);
    await writeFile(home.path('rows.csv'), rowsOf(rows));
    await faults({
      seed: SEED,
      lostReply: { rate: 0.04 },
      truncate: { rate: 0.03 },
      reset: { rate: 0.03 },
      error500: { rate: 0.03 },
      html502: { rate: 0.03, done: true },
      delay: { rate: 0.02, ms: 300 },
    });
    const ended = await resumeThroughKills(home, create('rows.csv'), []);
    await faults({});
    expect(ended.code, ended.stderr).toBe(0);
    await expectOnce(sandbox, rows);
  });
});

describe('a window of 400 requests per 3 s', () => {
  it('is used fully and never exceeded, alone and by two runs at the same time', {
    timeout: 300_000,
  }, async () => {
    const other = new Home();
    try {
      const limited = await other.sandbox(['--rate-limit', '400/3s']);
      await writeFile(other.path('rows.csv'), rowsOf(700));
      const started = performance.now();
      const { code, stderr } = await other.run(create('rows.csv'), { isRealTime: true });
      const seconds = (performance.now() - started) / 1_000;
      expect(code, stderr).toBe(0);
      const refused = await refusals(limited);
      // 1,400 requests, the reads of the template and the list, and two seconds before sending: three windows are awaited.
      const ratio = seconds / 9;
      process.stdout.write(
        `bulk faults: ${seconds.toFixed(1)} s, ${ratio.toFixed(2)} of the window's time; ${refused} refused\n`,
      );
      expect(refused).toBe(0);
      await writeFile(other.path('a.csv'), rowsOf(150).replaceAll('@example', '@a.example'));
      await writeFile(other.path('b.csv'), rowsOf(150).replaceAll('@example', '@b.example'));
      const both = await Promise.all(
        ['a.csv', 'b.csv'].map((file) => other.run(create(file), { isRealTime: true })),
      );
      expect(both.map((run) => run.code)).toEqual([0, 0]);
      expect(await refusals(limited)).toBe(0);
    } finally {
      await other.close();
    }
  });
});

/** Requests that the sandbox refused because of its window, by its audit log. */
async function refusals({ baseUrl, apiKey }: Sandbox): Promise<number> {
  let count = 0;
  for (let page = 1; ; page++) {
    const url = `${new URL(baseUrl).origin}/__sandbox/audit?pageSize=100&page=${page}`;
    const reply = await fetch(url, { headers: { authorization: `Bearer ${apiKey}` } });
    const text = await reply.text();
    count += text.split('"status":429').length - 1;
    if (!text.includes('"id"')) return count;
  }
}
