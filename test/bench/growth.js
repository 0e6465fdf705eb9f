import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { showStep } from '../../scripts/progress.js';
import {
  auditOf,
  BIN,
  cpuOf,
  growthOf,
  homeIn,
  option,
  printRows,
  run,
  startSandbox,
  times,
} from './measure.js';

/*
 * Measures one row of a bulk run and one watched envelope as their number grows. Other kinds of work are measured in their
 * own parts.
 * To run: node test/bench/growth.js [--rows 10000] [--envelopes 10000] [--seconds 20]
 */
const PAGE = 100;

/** @returns {Promise<import('./measure.js').Row[]>} */
export async function benchGrowth({ rows = 10_000, envelopes = 10_000, seconds = 20 } = {}) {
  const growths = [await bulkRows(rows), await watched(envelopes, seconds)];
  return growths.filter(Boolean).map((growth) => {
    const [least, most] = [growth.costs[0], growth.costs.at(-1)];
    const name = `growth: ${growth.what}, cost per item with ${most.items} ${growth.unit}`;
    const note = `${most.ms.toFixed(3)} ms of processor time; ${least.ms.toFixed(3)} ms with ${least.items}`;
    return { name, value: times(most.ms / least.ms), note, growth };
  });
}

/** The service stores nothing, so only the run itself can grow. */
async function bulkRows(most) {
  const folder = await mkdtemp(join(tmpdir(), 'esign-bench-'));
  let made = 0;
  const server = createServer((request, reply) => {
    request.resume().on('end', () => {
      const status = request.url.endsWith('/send') ? 'SENT' : 'DRAFT';
      const data = { id: `env_${made++}`, status };
      reply.setHeader('content-type', 'application/json').end(JSON.stringify({ data }));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${server.address().port}/v1`;
  const env = { ...homeIn(folder), ESIGN_BASE_URL: baseUrl, ESIGN_API_KEY: 'sk_bench_0123456789' };
  const counts = [most / 100, most / 10, most].map(Math.ceil);
  const taken = [];
  try {
    for (const count of counts) {
      showStep(`${count} rows`);
      const file = join(folder, `${count}.csv`);
      const lines = Array.from({ length: count }, (_, row) => `p${row}@example.com,Signer ${row}`);
      await writeFile(file, `email,name\n${lines.join('\n')}\n`);
      const words = ['bulk', 'create', file, '--template', 'tmpl_nda', '--send', '--yes', '--json'];
      taken.push(await run(process.execPath, [BIN, ...words], { env }));
    }
    return growthOf('bulk create', 'rows', counts, taken);
  } finally {
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** One poll of each envelope, after the first poll of all. */
async function watched(most, seconds) {
  const costs = [];
  for (const items of [most / 100, most / 10, most].map(Math.ceil)) {
    showStep(`${items} envelopes watched`);
    costs.push({ items, ms: await costOfLook(items, seconds) });
  }
  return { what: 'envelopes watch, one poll', unit: 'envelopes', costs };
}

async function costOfLook(count, seconds) {
  const folder = await mkdtemp(join(tmpdir(), 'esign-bench-'));
  const ids = Array.from({ length: count }, (_, at) => `env_${at}`);
  const signers = [{ email: 'ada@example.com', name: 'Ada Lovelace' }];
  const seeded = ids.map((id) => ({ id, template: 'tmpl_nda', status: 'SENT', signers }));
  await writeFile(join(folder, 'seed.json'), JSON.stringify({ envelopes: seeded }));
  const flags = ['--seed', join(folder, 'seed.json'), '--rate-limit', '100000000/15m'];
  const sandbox = await startSandbox(folder, flags);
  const words = [BIN, 'envelopes', 'watch', '-', '--json', '--interval', '1s'];
  const env = homeIn(folder);
  const watch = spawn(process.execPath, words, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    watch.stdin.end(`${ids.join('\n')}\n`);
    let shown = 0;
    for await (const _ of createInterface({ input: watch.stdout })) if (++shown === count) break;
    const now = async () => {
      const { meta } = await auditOf(sandbox.ready, 1, 1);
      return { cpu: await cpuOf(watch.pid), requests: meta.pagination.total };
    };
    await pause(2_000);
    const before = await now();
    await pause(seconds * 1_000);
    const after = await now();
    const polls = (after.requests - before.requests) / Math.ceil(count / PAGE);
    return (after.cpu - before.cpu) / (polls * count);
  } finally {
    const ended = once(watch, 'exit');
    watch.kill();
    await ended;
    await sandbox.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename) {
  const numbers = ['rows', 'envelopes', 'seconds'].map((name) => [name, option(name)]);
  printRows(await benchGrowth(Object.fromEntries(numbers)));
}
