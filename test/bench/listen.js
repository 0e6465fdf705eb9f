import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { showStep } from '../../scripts/progress.js';
import {
  BIN,
  cpuOf,
  growthOf,
  homeIn,
  inTurn,
  median,
  option,
  peakOf,
  printRows,
  ratioRow,
  rowOf,
} from './measure.js';

/*
 * Measures the signed deliveries that a listener with a journal acknowledges, compared with Debian's `webhook` with an
 * hmac-sha256 rule if installed, which stores nothing.
 * To run: node test/bench/listen.js [--count 40000] [--connections 64] [--rounds 5] [--many 200000]
 */
const SECRET = 'bench-secret-0123456789';
/** `webhook` would start a process for each one, so fewer are enough. */
const WEBHOOK_SHARE = 0.1;

/** @returns {Promise<import('./measure.js').Row[]>} */
export async function benchListen({ count = 40_000, rounds = 5, connections = 64, many = count * 5 } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'esign-bench-'));
  try {
    const rows = rowsOf(await race(folder, { count, rounds, connections }), connections);
    if (many > 0) rows.push(await memory(folder, many, connections));
    return rows;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs each receiver in turn, round by round, and returns the deliveries acknowledged per second. */
function race(folder, { count, rounds, connections }) {
  const under = (start, share = 1) => {
    return async (round) => {
      const server = await start(folder, `${start.name}-${round}`);
      try {
        await load(server.port, { count: Math.ceil(count * 0.1 * share), connections });
        return await load(server.port, { count: Math.ceil(count * share), connections });
      } finally {
        await server.stop();
      }
    };
  };
  return inTurn(rounds, {
    esign: under(startEsign),
    webhook: under(startWebhook, WEBHOOK_SHARE),
    'a bare server of Node': under(startBare),
  });
}

function rowsOf({ esign, ...others }, connections) {
  const rate = (seen) => seen.map(({ perSecond }) => perSecond);
  const quantiles = (seen) => {
    const [p50, p99] = ['p50', 'p99'].map((name) => median(seen.map((one) => one[name])).toFixed(1));
    return `p50 ${p50} ms, p99 ${p99} ms`;
  };
  const own = rowOf(`listen: signed deliveries acknowledged, ${connections} in parallel`, rate(esign), {
    unit: 'per second',
    note: quantiles(esign),
  });
  const compared = Object.entries(others).map(([name, seen]) => {
    const note = `${Math.round(median(rate(seen)))} per second, ${quantiles(seen)}`;
    return ratioRow(`listen: rate relative to ${name}`, rate(esign), rate(seen), {
      asked: name === 'webhook' ? '>= 1' : undefined,
      note,
    });
  });
  return [own, ...compared];
}

/** Peak memory after few and after many deliveries, which must not grow with their number, and the cost of each. */
async function memory(folder, many, connections) {
  const counts = [many / 100, many / 10, many].map(Math.ceil);
  const server = await startEsign(folder, 'memory');
  const { pid } = server.child;
  const taken = [];
  try {
    for (const [at, count] of counts.entries()) {
      showStep(`${count} deliveries`);
      const { perSecond } = await load(server.port, { count: count - (counts[at - 1] ?? 0), connections });
      taken.push({ cpu: await cpuOf(pid), mb: await peakOf(pid), perSecond });
    }
    const [few, most] = taken.slice(-2);
    return {
      name: `listen: peak memory after ${many} deliveries`,
      value: `${most.mb} MB`,
      asked: '< 200 MB',
      good: most.mb < 200,
      note: `${few.mb} MB after ${counts.at(-2)}; ${Math.round(most.perSecond)} per second`,
      growth: growthOf('listen', 'deliveries', counts, taken),
    };
  } finally {
    await server.stop();
  }
}

async function startEsign(folder, name) {
  const env = {
    ...homeIn(folder),
    ESIGN_STATE_DIR: join(folder, name),
    ESIGN_WEBHOOK_SECRET: SECRET,
  };
  const words = [BIN, 'listen', '--port', '0', '--json'];
  const profiling = process.env.BENCH_PROFILE
    ? ['--cpu-prof', `--cpu-prof-dir=${process.env.BENCH_PROFILE}`]
    : [];
  return startServer(folder, name, process.execPath, [...profiling, ...words], env, (text) =>
    Number(/"url":"http:\/\/127\.0\.0\.1:(\d+)/.exec(text)?.[1]),
  );
}

/** A server that checks the signature, parses the body, and does nothing else: the most that one thread of Node can do. */
const BARE = `
const { createHmac } = require('node:crypto');
const server = require('node:http').createServer((request, response) => {
  const pieces = [];
  request.on('data', (piece) => pieces.push(piece));
  request.on('end', () => {
    const body = Buffer.concat(pieces);
    const signature = createHmac('sha256', '${SECRET}').update(body).digest('hex');
    response.statusCode = signature === request.headers['x-service-signature'] && JSON.parse(body).event ? 200 : 401;
    response.end('ok');
  });
});
server.listen(0, '127.0.0.1', () => console.log('port', server.address().port));`;

function startBare(folder, name) {
  return startServer(folder, name, process.execPath, ['-e', BARE], process.env, (text) =>
    Number(/port (\d+)/.exec(text)?.[1]),
  );
}

async function startWebhook(folder, name) {
  const hooks = join(folder, 'hooks.json');
  const parameter = { source: 'header', name: 'X-Service-Signature' };
  const rule = { match: { type: 'payload-hmac-sha256', secret: SECRET, parameter } };
  const mismatch = { 'trigger-rule-mismatch-http-response-code': 401 };
  const hook = { id: 'webhooks', 'execute-command': '/bin/true', 'trigger-rule': rule, ...mismatch };
  await writeFile(hooks, JSON.stringify([hook]));
  const port = await freePort();
  const words = ['-hooks', hooks, '-ip', '127.0.0.1', '-port', String(port), '-urlprefix', ''];
  const server = await startServer(folder, name, 'webhook', words, process.env, () => port);
  await untilOpen(port);
  return server;
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function untilOpen(port) {
  for (let turn = 0; turn < 500; turn++) {
    const isOpen = await new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('it does not listen');
}

/** Starts a receiver whose output goes to a file, like a service's. */
async function startServer(folder, name, file, words, env, portOf) {
  const log = join(folder, `${name}.log`);
  const output = await open(log, 'w');
  const child = spawn(file, words, { env, stdio: ['ignore', output.fd, output.fd] });
  const ended = new Promise((resolve) => {
    child.on('exit', resolve);
    child.on('error', resolve);
  });
  // The child has its own handle.
  await output.close();
  let over;
  void ended.then((reason) => {
    over = reason instanceof Error ? reason : new Error(`it ended with ${reason}`);
  });
  const stop = async () => {
    child.kill();
    await ended;
  };
  for (;;) {
    if (over !== undefined) throw over;
    const port = portOf((await readFile(log, 'utf8')).slice(0, 1_000));
    if (port > 0) return { child, port, stop };
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

let made = 0;

/** Returns one signed delivery as the bytes of a request. No two are alike. */
function nextRequest() {
  made++;
  const body = JSON.stringify({
    event: 'envelope.signed',
    timestamp: '2026-01-02T03:04:05.678Z',
    data: {
      envelopeId: `env_${made % 1_000}`,
      status: 'IN_PROGRESS',
      signer: {
        id: `signer_${made}`,
        email: 'ada@example.com',
        name: 'Ada Lovelace',
        signedAt: '2026-01-02T03:04:05.678Z',
      },
    },
  });
  const signature = createHmac('sha256', SECRET).update(body).digest('hex');
  return `POST /webhooks HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nX-Service-Signature: ${signature}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** Sends this many requests over this many keep-alive connections; each sends the next one after a 200. */
async function load(port, { count, connections }) {
  const times = new Float64Array(count);
  let sent = 0;
  const started = performance.now();
  const run = () =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1').setNoDelay(true).setEncoding('latin1');
      let text = '';
      let index = 0;
      let at = 0;
      const next = () => {
        if (sent >= count) {
          socket.destroy();
          return resolve();
        }
        index = sent++;
        const bytes = nextRequest();
        at = performance.now();
        socket.write(bytes);
      };
      socket.on('connect', next).on('error', reject);
      socket.on('close', () => reject(new Error(`the connection was closed after ${text}`)));
      socket.on('data', (more) => {
        text += more;
        if (!isWhole(text)) return;
        if (!text.startsWith('HTTP/1.1 200')) return reject(new Error(`it answered ${text}`));
        text = '';
        times[index] = performance.now() - at;
        next();
      });
    });
  await Promise.all(Array.from({ length: connections }, run));
  const seconds = (performance.now() - started) / 1_000;
  times.sort();
  const at = (share) => times[Math.min(count - 1, Math.floor(count * share))];
  return { perSecond: count / seconds, p50: at(0.5), p99: at(0.99) };
}

function isWhole(text) {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1];
  return length === undefined ? text.endsWith('0\r\n\r\n') : text.length >= end + 4 + Number(length);
}

if (process.argv[1] === import.meta.filename) {
  const names = ['count', 'rounds', 'connections', 'many'];
  printRows(await benchListen(Object.fromEntries(names.map((name) => [name, option(name)]))));
}
