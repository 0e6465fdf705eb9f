import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { auditOf, BIN, homeIn, option, printRows, run, startSandbox } from './measure.js';

/*
 * What watching a thousand envelopes costs: requests a look, processor time, memory.
 * By hand: node test/bench/watch.js [--envelopes 1000] [--seconds 60]
 */
const INTERVAL_S = 5;

/** @returns {Promise<import('./measure.js').Row[]>} */
export async function benchWatch({ envelopes = 1_000, seconds = 60 } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'esign-bench-'));
  const sandbox = await startSandbox(folder, ['--rate-limit', '100000000/15m']);
  const { baseUrl, apiKey } = sandbox.ready;
  const env = { ...homeIn(folder), ESIGN_BASE_URL: baseUrl, ESIGN_API_KEY: apiKey };
  try {
    const ids = await sent(folder, env, envelopes);
    const before = await answered(sandbox.ready);
    const words = ['envelopes', 'watch', '-', '--json', '--interval', `${INTERVAL_S}s`];
    const watch = spawn(process.execPath, [BIN, ...words], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    watch.stdin.end(`${ids.join('\n')}\n`);
    await pause(INTERVAL_S * 2_000);
    const [first, started] = [await costOf(watch.pid), performance.now()];
    const delay = await delayOf(watch, ids[0], env);
    await pause(Math.max(0, seconds * 1_000 - (performance.now() - started)));
    const last = await costOf(watch.pid);
    const elapsed = (performance.now() - started) / 1_000;
    const ended = once(watch, 'exit');
    watch.kill();
    await ended;
    const looks = Math.floor((elapsed + INTERVAL_S * 2) / INTERVAL_S) + 1;
    // One request was the signing, which the audit shows, too.
    const perLook = ((await answered(sandbox.ready)) - before) / looks;
    return rowsOf({ envelopes, perLook, share: (last.cpu - first.cpu) / elapsed, delay, first, last });
  } finally {
    await sandbox.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function rowsOf({ envelopes, perLook, share, delay, first, last }) {
  return [
    {
      name: `watch: requests a look for ${envelopes} envelopes`,
      value: perLook.toFixed(1),
      asked: '<= 12',
      good: perLook <= 12,
    },
    {
      name: 'watch: processor time of one core',
      value: `${(share * 100).toFixed(1)} %`,
      asked: '< 2 %',
      good: share < 0.02,
      note: `a look every ${INTERVAL_S} s`,
    },
    {
      name: 'watch: memory at the end',
      value: `${last.mb} MB`,
      note: `${first.mb} MB after the first looks`,
    },
    {
      name: 'watch: from a signature to its line, without webhooks',
      value: `${delay.toFixed(1)} s`,
      asked: `<= ${INTERVAL_S} s`,
      good: delay <= INTERVAL_S + 0.5,
    },
  ];
}

async function sent(folder, env, count) {
  const file = join(folder, 'rows.csv');
  const rows = Array.from({ length: count }, (_, row) => `w${row}@example.com,Signer ${row}`);
  await writeFile(file, `email,name\n${rows.join('\n')}\n`);
  const words = ['bulk', 'create', file, '--template', 'tmpl_nda', '--send', '--yes', '--json'];
  await run(process.execPath, [BIN, ...words], { env });
  const list = [BIN, 'envelopes', 'list', '--limit', String(count), '-q'];
  const { printed } = await run(process.execPath, list, { env, stdout: 'pipe' });
  return printed.trim().split('\n');
}

async function answered(ready) {
  const { meta } = await auditOf(ready, 1, 1);
  return meta.pagination.total;
}

/** Seconds of processor time so far, and MB held. */
async function costOf(pid) {
  const stat = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1].split(' ');
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const mb = Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_000);
  return { cpu: (Number(stat[11]) + Number(stat[12])) / 100, mb };
}

async function delayOf(watch, id, env) {
  const lines = createInterface({ input: watch.stdout });
  const signed = new Promise((resolve) => {
    lines.on('line', (line) => {
      if (line.includes(id) && line.includes('"to":"COMPLETED"')) resolve(performance.now());
    });
  });
  const started = performance.now();
  await run(process.execPath, [BIN, 'sandbox', 'sign', id], { env });
  return ((await signed) - started) / 1_000;
}

if (process.argv[1] === import.meta.filename)
  printRows(await benchWatch({ envelopes: option('envelopes'), seconds: option('seconds') }));
