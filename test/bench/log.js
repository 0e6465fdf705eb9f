import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importSources, median, option, printRows } from './measure.js';

/*
 * Looks up one write in a long log, as every create does before it sends.
 * To run: node test/bench/log.js [--entries 100000] [--rounds 15]
 */
const BATCH = 1_000;

/** @returns {Promise<import('./measure.js').Row[]>} */
export async function benchLog({ entries = 100_000, rounds = 15 } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'esign-bench-'));
  try {
    const { LogFolder } = await importSources(folder, 'src/log/log-folder.ts');
    const log = new LogFolder(join(folder, 'log'), Date);
    const keys = Array.from({ length: entries }, () => randomBytes(12).toString('hex'));
    for (let start = 0; start < entries; start += BATCH)
      await log.append(keys.slice(start, start + BATCH).flatMap(recordsOf));
    const taken = [];
    for (let round = 0; round < rounds; round++) {
      const began = performance.now();
      const [write] = await log.find([keys[Math.floor((entries * round) / rounds)]]);
      taken.push(performance.now() - began);
      if (write?.state !== 'done') throw new Error('The log does not find a write.');
    }
    const ms = median(taken);
    return [
      {
        name: `log: lookup of a write among ${entries}`,
        value: `${ms.toFixed(1)} ms`,
        runs: taken,
        asked: '<= 45 ms',
        good: ms <= 45,
      },
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the two records of a create. */
function recordsOf(key) {
  const at = new Date().toISOString();
  const id = `log_${key.slice(0, 12)}`;
  const both = { id, at, serviceAt: at, key, action: 'create', envelopeIds: [`env_${key.slice(0, 20)}`] };
  const { envelopeIds: _, ...begun } = both;
  const facts = {
    user: 'ada',
    profile: null,
    baseUrl: 'https://api.example.com/v1',
    account: key,
    command: 'create',
  };
  return [
    { type: 'intent', ...begun, until: at, effect: 'mails', envelopeIds: [], requestId: key, ...facts },
    { type: 'done', ...both },
  ];
}

if (process.argv[1] === import.meta.filename)
  printRows(await benchLog({ entries: option('entries'), rounds: option('rounds') }));
