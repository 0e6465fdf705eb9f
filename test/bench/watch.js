import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { auditOf, BIN, homeIn, median, option, printRows, run, startSandbox } from './measure.js';
import { benchDay } from './watch-day.js';

/*
 * Measures watching a thousand and ten thousand envelopes: requests per poll, processor time, and memory.
 * To run: node test/bench/watch.js [--envelopes 1000] [--seconds 60] [--many 10000]
 */
const INTERVAL_S = 5;

/** @returns {Promise<import('./measure.js').Row[]>} */
export async function benchWatch({ envelopes = 1_000, seconds = 60, hours, many = 10_000 } = {}) {
  const day = await benchDay({ hours });
  return [...(await thousand(envelopes, seconds)), ...(await manyRows(many)), day, await delayOfWebhooks()];
}

/** As many as an account has in progress at the same time: the requests of some polls, and the peak memory. */
async function manyRows(count, polls = 2) {
  const folder = await mkdtemp(join(tmpdir(), 'esign-bench-'));
  const signers = [{ email: 'a@example.com', name: 'Ada Lovelace' }];
  const ids = Array.from({ length: count }, (_, at) => `env_${at}`);
  const seeded = ids.map((id) => ({ id, template: 'tmpl_nda', status: 'SENT', signers }));
  await writeFile(join(folder, 'seed.json'), JSON.stringify({ envelopes: seeded }));
  const flags = ['--seed', join(folder, 'seed.json'), '--rate-limit', '100000000/15m'];
  const sandbox = await startSandbox(folder, flags);
  const between = await counting(sandbox.ready.baseUrl);
  const env = { ...homeIn(folder), ESIGN_BASE_URL: between.baseUrl, ESIGN_API_KEY: sandbox.ready.apiKey };
  try {
    const words = ['envelopes', 'watch', '-', '--json', '--interval', `${INTERVAL_S}s`];
    const watch = spawn(process.execPath, [BIN, ...words], { env, stdio: ['pipe', 'ignore', 'inherit'] });
    const ended = once(watch, 'exit');
    watch.stdin.end(`${ids.join('\n')}\n`);
    // A poll starts with the first page of a list.
    while (between.asked.filter(isFirstPage).length <= polls && watch.exitCode === null) await pause(100);
    const peakMb = await peakOf(watch.pid);
    watch.kill();
    await ended;
    const perPoll = between.asked.findLastIndex(isFirstPage) / polls;
    const most = count / 100 + 20;
    return [
      {
        name: `watch: requests per poll for ${count} envelopes`,
        value: perPoll.toFixed(1),
        asked: `<= ${most}`,
        good: perPoll <= most,
        note: `in ${polls} polls`,
      },
      {
        name: `memory: watch ${count} envelopes`,
        value: `${peakMb} MB`,
        asked: '< 150 MB',
        good: peakMb < 150,
      },
    ];
  } finally {
    between.stop();
    await sandbox.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A proxy in front of the sandbox that records the requests. */
async function counting(baseUrl) {
  const { origin, pathname } = new URL(baseUrl);
  const asked = [];
  const server = createServer((wanted, reply) => {
    const { method, url, headers } = wanted;
    asked.push(url);
    const passed = request(origin + url, { method, headers }, (answer) => {
      reply.writeHead(answer.statusCode, answer.headers);
      answer.pipe(reply);
    });
    wanted.pipe(passed.on('error', () => reply.destroy()));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { baseUrl: `http://127.0.0.1:${server.address().port}${pathname}`, asked, stop };
}

function isFirstPage(url) {
  return new URL(url, 'http://127.0.0.1').searchParams.get('page') === '1';
}

async function thousand(envelopes, seconds) {
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
    const polls = Math.floor((elapsed + INTERVAL_S * 2) / INTERVAL_S) + 1;
    // One request was the signing, which the audit contains, too.
    const perPoll = ((await answered(sandbox.ready)) - before) / polls;
    return rowsOf({ envelopes, perPoll, share: (last.cpu - first.cpu) / elapsed, delay, first, last });
  } finally {
    await sandbox.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function rowsOf({ envelopes, perPoll, share, delay, first, last }) {
  return [
    {
      name: `watch: requests per poll for ${envelopes} envelopes`,
      value: perPoll.toFixed(1),
      asked: '<= 12',
      good: perPoll <= 12,
    },
    {
      name: 'watch: processor time of one core',
      value: `${(share * 100).toFixed(1)} %`,
      asked: '< 2 %',
      good: share < 0.02,
      note: `a poll every ${INTERVAL_S} s`,
    },
    {
      name: 'watch: memory at the end',
      value: `${last.mb} MB`,
      note: `${first.mb} MB after the first polls`,
    },
    {
      name: 'watch: time from a signature to its line, without webhooks',
      value: `${delay.toFixed(1)} s`,
      asked: `<= ${INTERVAL_S} s`,
      good: delay <= INTERVAL_S + 0.5,
    },
  ];
}

/** The time from a delivery that `listen` has printed to the line of a watch whose next poll is a minute away. */
async function delayOfWebhooks(signings = 10) {
  const folder = await mkdtemp(join(tmpdir(), 'esign-bench-'));
  const sandbox = await startSandbox(folder);
  const { baseUrl, apiKey } = sandbox.ready;
  const env = { ...homeIn(folder), ESIGN_BASE_URL: baseUrl, ESIGN_API_KEY: apiKey };
  const start = (...words) =>
    spawn(process.execPath, [BIN, ...words], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const secret = join(folder, 'secret');
  await writeFile(secret, 'whsec_bench_0123456789abcdef');
  const listen = start('listen', '--port', '0', '--json', '--secret-file', secret);
  let watch;
  try {
    const shown = createInterface({ input: listen.stdout });
    const [ready] = await once(shown, 'line');
    const create = [
      'envelopes',
      'create',
      '--template',
      'tmpl_nda',
      '--signer',
      'a@example.com',
      '--send',
      '-q',
    ];
    const ids = [];
    for (let n = 0; n < signings; n++) {
      const words = [BIN, ...create, '--webhook-url', JSON.parse(ready).url, '--webhook-secret-file', secret];
      ids.push((await run(process.execPath, words, { env, stdout: 'pipe' })).printed.trim());
    }
    watch = start('envelopes', 'watch', ...ids, '--json', '--interval', '60s');
    const changes = createInterface({ input: watch.stdout });
    await Promise.all(ids.map((id) => lineWith(changes, id, '"from":null')));
    const delays = [];
    for (const id of ids) {
      const lines = Promise.all([
        lineWith(shown, id, '"event":"envelope.completed"'),
        lineWith(changes, id, '"to":"COMPLETED"'),
      ]);
      await run(process.execPath, [BIN, 'sandbox', 'sign', id], { env });
      const [delivered, seen] = await lines;
      delays.push(seen - delivered);
    }
    const delay = median(delays);
    const name = "watch: delay after the listener's line for the same webhook, median";
    return { name, value: `${delay.toFixed(0)} ms`, asked: '< 100 ms', good: delay < 100 };
  } finally {
    for (const one of [listen, watch]) one?.kill();
    await sandbox.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The time of the line that contains both. */
function lineWith(lines, ...parts) {
  return new Promise((resolve) => {
    const look = (line) => {
      if (!parts.every((part) => line.includes(part))) return;
      lines.off('line', look);
      resolve(performance.now());
    };
    lines.on('line', look);
  });
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

/** Returns the processor time used, in seconds, and the memory, in MB. */
async function costOf(pid) {
  const stat = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1].split(' ');
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const mb = Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_000);
  return { cpu: (Number(stat[11]) + Number(stat[12])) / 100, mb };
}

/** The peak memory of a process, in MB. */
async function peakOf(pid) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1_000);
}

async function delayOf(watch, id, env) {
  const signed = lineWith(createInterface({ input: watch.stdout }), id, '"to":"COMPLETED"');
  await run(process.execPath, [BIN, 'sandbox', 'sign', id], { env });
  const after = performance.now();
  return Math.max(0, (await signed) - after) / 1_000;
}

if (process.argv[1] === import.meta.filename)
  printRows(
    await benchWatch({
      envelopes: option('envelopes'),
      seconds: option('seconds'),
      many: option('many'),
    }),
  );
