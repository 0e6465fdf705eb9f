import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { showStep } from '../../scripts/progress.js';
import { auditOf, BIN, cpuOf, homeIn, option, peakOf, printRows, startSandbox } from './measure.js';

/*
 * Watches as many envelopes as an account has in progress at the same time, and fewer: the peak memory, and the processor
 * time of a poll.
 * To run: node test/bench/watch.js [--envelopes 10000] [--seconds 20]
 */
const PAGE = 100;

/** @returns {Promise<import('./measure.js').Row[]>} */
export async function benchWatch({ envelopes = 10_000, seconds = 20 } = {}) {
  const taken = [];
  for (const count of [envelopes / 100, envelopes / 10, envelopes].map(Math.ceil)) {
    showStep(`${count} envelopes watched`);
    taken.push(await polls(count, seconds));
  }
  const { mb } = taken.at(-1);
  const costs = taken.map(({ items, ms }) => ({ items, ms }));
  return [
    {
      name: `memory: watch ${envelopes} envelopes`,
      value: `${mb} MB`,
      asked: '< 150 MB',
      good: mb < 150,
      growth: { what: 'envelopes watch, one poll', unit: 'envelopes', costs },
    },
  ];
}

/** Polls every second for some seconds, after the first poll of all. */
async function polls(items, seconds) {
  const folder = await mkdtemp(join(tmpdir(), 'esign-bench-'));
  const ids = Array.from({ length: items }, (_, at) => `env_${at}`);
  const signers = [{ email: 'ada@example.com', name: 'Ada Lovelace' }];
  const envelopes = ids.map((id) => ({ id, template: 'tmpl_nda', status: 'SENT', signers }));
  await writeFile(join(folder, 'seed.json'), JSON.stringify({ envelopes }));
  const flags = ['--seed', join(folder, 'seed.json'), '--rate-limit', '100000000/15m'];
  const sandbox = await startSandbox(folder, flags);
  const words = [BIN, 'envelopes', 'watch', '-', '--json', '--interval', '1s'];
  const env = homeIn(folder);
  const watch = spawn(process.execPath, words, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    watch.stdin.end(`${ids.join('\n')}\n`);
    let shown = 0;
    for await (const _ of createInterface({ input: watch.stdout })) if (++shown === items) break;
    const now = async () => {
      const { meta } = await auditOf(sandbox.ready, 1, 1);
      return { cpu: await cpuOf(watch.pid), requests: meta.pagination.total };
    };
    await pause(2_000);
    const before = await now();
    await pause(seconds * 1_000);
    const after = await now();
    const done = (after.requests - before.requests) / Math.ceil(items / PAGE);
    return { items, ms: (after.cpu - before.cpu) / (done * items), mb: await peakOf(watch.pid) };
  } finally {
    const ended = once(watch, 'exit');
    watch.kill();
    await ended;
    await sandbox.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename)
  printRows(await benchWatch({ envelopes: option('envelopes'), seconds: option('seconds') }));
