import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/*
 * How the sandbox holds up with many envelopes stored: GETs a second on one core, memory, and how fast it starts again.
 * Where taskset is there, the sandbox has the first core for itself and this program another one.
 * Run it by hand: node test/bench/sandbox.js [--envelopes 10000] [--seconds 5] [--connections 16]
 */
const root = join(import.meta.dirname, '../..');
const AT_ONCE = 32;
const WARM_UP_MS = 2_000;

/** @returns {Promise<{name: string, value: string, note: string}[]>} */
export async function benchSandbox({ envelopes = 10_000, seconds = 5, connections = 16 } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'esign-bench-'));
  let sandbox;
  try {
    sandbox = await start(folder);
    const empty = sandbox.ms;
    const ids = await fill(sandbox, envelopes);
    const filled = await memoryOf(sandbox);
    await load(sandbox, ids, { ms: WARM_UP_MS, connections });
    const busy = await load(sandbox, ids, { ms: seconds * 1_000, connections });
    const [now, peak] = await memoryOf(sandbox);
    await sandbox.stop();
    const again = [];
    for (let round = 0; round < 3; round++) {
      sandbox = await start(folder);
      again.push(sandbox.ms);
      await sandbox.stop();
    }
    const stored = `${envelopes} envelopes stored`;
    return [
      { name: `GET envelope, ${stored}`, value: `${Math.round(busy)} a second`, note: 'at least 2,000' },
      {
        name: `memory, ${stored}`,
        value: `${now} MB`,
        note: `peak ${peak} MB, once filled ${filled[0]} MB; below 300`,
      },
      { name: 'start, empty', value: `${Math.round(empty)} ms`, note: 'below 300' },
      { name: `start, ${stored}`, value: `${Math.round(Math.min(...again))} ms`, note: 'best of 3' },
    ];
  } finally {
    await sandbox?.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A sandbox of the built program; `ms` is how long it took to be ready. */
async function start(folder) {
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    ESIGN_CONFIG_DIR: join(folder, 'config'),
    ESIGN_STATE_DIR: join(folder, 'state'),
  };
  const words = [
    'sandbox',
    'start',
    '--data',
    join(folder, 'data'),
    '--port',
    '0',
    '--rate-limit',
    '100000000/15m',
    '--json',
  ];
  const command = [process.execPath, join(root, 'bin/run.js'), ...words];
  const pinned = existsSync('/usr/bin/taskset') ? ['/usr/bin/taskset', '-c', '0', ...command] : command;
  const started = performance.now();
  const child = spawn(pinned[0], pinned.slice(1), { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  let text = '';
  for await (const chunk of child.stdout) {
    text += chunk;
    if (text.includes('\n')) break;
  }
  const ms = performance.now() - started;
  const { baseUrl, apiKey } = JSON.parse(text);
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill();
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

/** GETs over some connections, one after the other on each; how many were answered in a second. */
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

/** Megabytes held now, and the most so far. */
async function memoryOf({ pid }) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return ['VmRSS', 'VmHWM'].map((name) =>
    Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1_000),
  );
}

if (process.argv[1] === import.meta.filename) {
  const option = (name) => {
    const at = process.argv.indexOf(`--${name}`);
    return at < 0 ? undefined : Number(process.argv[at + 1]);
  };
  const options = {
    envelopes: option('envelopes'),
    seconds: option('seconds'),
    connections: option('connections'),
  };
  for (const { name, value, note } of await benchSandbox(options))
    process.stdout.write(`${name.padEnd(45)} ${value.padEnd(20)} ${note}\n`);
}
