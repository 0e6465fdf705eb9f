import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { Pool } from 'undici';

// What sending in bulk costs over the bare requests, and how much memory a long list takes.
const bin = join(import.meta.dirname, '../../bin/run.js');
const CONCURRENCY = 16;
const ROWS = Number(process.env.BENCH_BULK_ROWS ?? 2_000);
const TURNS = 5;
const LONG_ROWS = Number(process.env.BENCH_BULK_LONG_ROWS ?? 100_000);

/** Prints the ratios, and returns them by name. */
export async function benchBulk() {
  const folder = await mkdtemp(join(tmpdir(), 'esign-bench-'));
  try {
    const speed = await compareSpeed(folder);
    const memory = await measureMemory(folder);
    const ratio = speed.bulk / speed.bare;
    const share = memory.peakMB / 150;
    say(`bulk: requests per second, of a bare undici pool's (${CONCURRENCY} at once, ${ROWS} rows)`, ratio);
    say(`bulk: peak memory for ${LONG_ROWS} rows, of 150 MB`, share);
    return { speed: ratio, memory: share };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function say(what, ratio) {
  process.stdout.write(`${what}\t${ratio.toFixed(2)}\n`);
}

/** Requests per second of both against the sandbox, in turns so that a busy machine hits both alike. */
async function compareSpeed(folder) {
  const sandbox = await startSandbox(folder);
  try {
    await runBare(sandbox, 200);
    const seconds = { bare: [], bulk: [] };
    for (let turn = 0; turn < TURNS; turn++) {
      seconds.bare.push(await timed(() => runBare(sandbox, ROWS)));
      seconds.bulk.push((await runBulk(folder, sandbox, ROWS, turn)).seconds);
    }
    // A busy machine makes some turns slow; the quickest says what either can do.
    const best = (list) => (ROWS * 2) / Math.min(...list);
    return { bare: best(seconds.bare), bulk: best(seconds.bulk) };
  } finally {
    await sandbox.stop();
  }
}

async function timed(work) {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1_000;
}

/** Creates and sends, as many at once as the bulk run may have. */
async function runBare(sandbox, rows) {
  const { origin, pathname } = new URL(sandbox.baseUrl);
  const pool = new Pool(origin, { connections: CONCURRENCY });
  const headers = { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json' };
  const post = async (path, body) => {
    const reply = await pool.request({ method: 'POST', path: `${pathname}${path}`, headers, body });
    return reply.body.json();
  };
  let next = 0;
  const worker = async () => {
    for (let row = next++; row < rows; row = next++) {
      const signers = [{ email: `bare${row}@example.com`, name: `Signer ${row}` }];
      const metadata = { esignRun: 'run-bare', esignRow: row, esignRequestId: `bare-${row}` };
      const { data } = await post(
        '/esign/envelopes',
        JSON.stringify({ templateId: 'tmpl_nda', signers, metadata }),
      );
      await post(`/esign/envelopes/${data.id}/send`, undefined);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  await pool.close();
}

async function runBulk(folder, service, rows, turn) {
  const file = join(folder, `rows-${turn}.csv`);
  const lines = Array.from({ length: rows }, (_, row) => `s${turn}-${row}@example.com,Signer ${row}`);
  await writeFile(file, `email,name\n${lines.join('\n')}\n`);
  const words = [
    'bulk',
    'create',
    file,
    '--template',
    'tmpl_nda',
    '--send',
    '--yes',
    '--concurrency',
    String(CONCURRENCY),
  ];
  return esign(folder, [...words, '--reserve', '0', '--json'], service);
}

/** Runs a command to its end: the most memory it had, in MB, and the seconds from its first line to its last. */
async function esign(folder, words, service) {
  const env = { ...environment(folder), ESIGN_BASE_URL: service.baseUrl, ESIGN_API_KEY: service.apiKey };
  const child = spawn(process.execPath, [bin, ...words], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let [first, last] = [0, 0];
  child.stdout.on('data', () => {
    last = performance.now();
    first ||= last;
  });
  let peakMB = 0;
  const timer = setInterval(async () => {
    // Only Linux tells; elsewhere it stays 0.
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    peakMB = Math.max(peakMB, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024);
  }, 100);
  const code = await new Promise((resolve) => child.on('close', resolve));
  clearInterval(timer);
  if (code !== 0) throw new Error(`esign ${words.join(' ')} ended with ${code}`);
  return { peakMB, seconds: (last - first) / 1_000 };
}

/** A long list against a service that keeps nothing. */
async function measureMemory(folder) {
  let id = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const data = {
        id: `env_${String(id++).padStart(20, '0')}`,
        status: request.url.endsWith('/send') ? 'SENT' : 'DRAFT',
      };
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ data }));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${server.address().port}/api/v1`;
  const { peakMB } = await runBulk(folder, { baseUrl, apiKey: 'sk_bench_0123456789' }, LONG_ROWS, 'long');
  server.close();
  return { peakMB };
}

async function startSandbox(folder) {
  const words = ['sandbox', 'start', '--ephemeral', '--port', '0', '--rate-limit', '100000000/15m', '--json'];
  const child = spawn(process.execPath, [bin, ...words], {
    env: environment(folder),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout });
  const ready = await new Promise((resolve) => lines.once('line', (line) => resolve(JSON.parse(line))));
  const stop = () =>
    new Promise((resolve) => {
      child.on('close', resolve);
      child.kill('SIGTERM');
    });
  return { baseUrl: ready.baseUrl, apiKey: ready.apiKey, stop };
}

function environment(folder) {
  const { PATH } = process.env;
  return {
    PATH,
    HOME: folder,
    ESIGN_CONFIG_DIR: join(folder, 'config'),
    ESIGN_STATE_DIR: join(folder, 'state'),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await benchBulk();
