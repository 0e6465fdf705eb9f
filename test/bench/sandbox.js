import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { BIN, homeIn, inTurn, option, printRows, rowOf } from './measure.js';
import { benchMany } from './sandbox-many.js';

/*
 * Measures the sandbox with many stored envelopes: GETs per second on one core, memory, and start-up time. If taskset is
 * installed, the sandbox has the first core to itself.
 * To run: node test/bench/sandbox.js [--envelopes 10000] [--seconds 5] [--connections 16] [--rounds 5] [--many 100000]
 */
const AT_ONCE = 32;
/** The duration of the GETs is divided into this many runs. */
const LOADS = 5;
const WARM_UP_MS = 2_000;
const TASKSET = '/usr/bin/taskset';
const LEAST_GETS = 2_000;
const MOST_MB = 300;
const MOST_MS = 300;

/** @returns {Promise<import('./measure.js').Row[]>} */
export async function benchSandbox({
  envelopes = 10_000,
  seconds = 5,
  connections = 16,
  rounds = 5,
  many = 100_000,
} = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'esign-bench-'));
  try {
    const empty = await starts(folder, 'empty', rounds);
    const { gets, now, peak } = await underLoad(folder, { envelopes, seconds, connections });
    const full = await starts(folder, 'full', rounds);
    const stored = `with ${envelopes} envelopes stored`;
    return [
      rowOf(`sandbox: GET envelope on one core, ${stored}`, gets, {
        unit: 'per second',
        asked: `>= ${LEAST_GETS}`,
        note: `${connections} connections`,
      }),
      {
        name: `sandbox: memory, ${stored}`,
        value: `${now} MB`,
        asked: `< ${MOST_MB} MB`,
        good: peak < MOST_MB,
        note: `${peak} MB at most`,
      },
      rowOf('sandbox: start', empty, {
        unit: 'ms',
        asked: `< ${MOST_MS}`,
        note: 'from the command to the ready line',
      }),
      rowOf(`sandbox: start ${stored}`, full, { unit: 'ms', note: 'reads all of them' }),
      ...(existsSync('/proc/self/stat') ? await benchMany(folder, many) : []),
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function underLoad(folder, { envelopes, seconds, connections }) {
  const sandbox = await start(folder, 'full');
  try {
    const ids = await fill(sandbox, envelopes);
    await load(sandbox, ids, { ms: WARM_UP_MS, connections });
    const loads = { own: () => load(sandbox, ids, { ms: (seconds * 1_000) / LOADS, connections }) };
    const { own: gets } = await inTurn(LOADS, loads);
    const [now, peak] = await memoryOf(sandbox);
    return { gets, now, peak };
  } finally {
    await sandbox.stop();
  }
}

async function starts(folder, name, rounds) {
  const times = [];
  for (let round = 0; round < rounds; round++) {
    const { ms, stop } = await start(folder, name);
    times.push(ms);
    await stop();
  }
  return times;
}

/** Starts a sandbox with its state in a folder of that name; `ms` is the time until it is ready. */
async function start(folder, name) {
  const state = ['--data', join(folder, name), '--port', '0', '--rate-limit', '100000000/15m'];
  const words = [process.execPath, BIN, 'sandbox', 'start', ...state, '--json'];
  const [file, ...rest] = existsSync(TASKSET) ? [TASKSET, '-c', '0', ...words] : words;
  const started = performance.now();
  const child = spawn(file, rest, { env: homeIn(folder), stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const ms = performance.now() - started;
  const { baseUrl, apiKey } = JSON.parse(line);
  const stop = async () => {
    const ended = once(child, 'exit');
    child.kill();
    await ended;
  };
  return { ms, baseUrl: new URL(baseUrl), apiKey, pid: child.pid, stop };
}

async function fill({ baseUrl, apiKey }, count) {
  const ids = [];
  const body = JSON.stringify({
    templateId: 'tmpl_lease',
    signers: [
      { email: 'ada@example.com', name: 'Ada Lovelace', role: 'Landlord' },
      { email: 'bob@example.com', name: 'Bob Babbage', role: 'Tenant' },
    ],
    metadata: { contract: 'C-2026-000123', unit: '4b' },
    sendImmediately: true,
  });
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const work = async () => {
    while (count-- > 0) {
      const reply = await fetch(`${baseUrl.href}/esign/envelopes`, { method: 'POST', headers, body });
      ids.push((await reply.json()).data.id);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return ids;
}

/** Sends GETs over some connections, one after the other on each, and returns the responses per second. */
async function load({ baseUrl, apiKey }, ids, { ms, connections }) {
  const until = performance.now() + ms;
  let next = 0;
  const request = () => {
    const id = ids[(next++ * 7919) % ids.length];
    return `GET ${baseUrl.pathname}/esign/envelopes/${id} HTTP/1.1\r\nHost: ${baseUrl.host}\r\nAuthorization: Bearer ${apiKey}\r\n\r\n`;
  };
  const answered = await Promise.all(Array.from({ length: connections }, () => ask(baseUrl, request, until)));
  return answered.reduce((sum, count) => sum + count, 0) / (ms / 1_000);
}

function ask({ hostname, port }, request, until) {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(request()));
    let answered = 0;
    let text = '';
    socket.setEncoding('latin1').on('error', reject);
    socket.on('data', (chunk) => {
      text += chunk;
      const head = text.indexOf('\r\n\r\n');
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1]);
      if (head === -1 || text.length < head + 4 + length) return;
      if (!text.startsWith('HTTP/1.1 200')) return reject(new Error(text.slice(0, 200)));
      answered += 1;
      text = '';
      if (performance.now() < until) socket.write(request());
      else socket.end(() => resolve(answered));
    });
  });
}

/** Returns the current and the peak memory, in megabytes. */
async function memoryOf({ pid }) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return ['VmRSS', 'VmHWM'].map((name) =>
    Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1_000),
  );
}

if (process.argv[1] === import.meta.filename) {
  const numbers = ['envelopes', 'seconds', 'connections', 'rounds', 'many'].map((name) => [
    name,
    option(name),
  ]);
  printRows(await benchSandbox(Object.fromEntries(numbers)));
}
