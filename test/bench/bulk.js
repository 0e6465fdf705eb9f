import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import { auditOf, BIN, homeIn, median, option, printRows, run, startSandbox, times } from './measure.js';

/*
 * A bulk run beside a bare undici pool that makes the same calls; on a small rate window; and its memory.
 * By hand: node test/bench/bulk.js [--rows 10000] [--rounds 3] [--many 100000]
 */
const AT_ONCE = 16;
const WINDOW = { requests: 400, seconds: 3 };

/** @returns {Promise<import('./measure.js').Row[]>} */
export async function benchBulk({ rows = 10_000, rounds = 3, many = 100_000 } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'esign-bench-'));
  try {
    const table = [await besidePool(folder, rows, rounds), await onWindow(folder)];
    if (many > 0) table.push(await memory(folder, many));
    return table;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Two requests a row, either way: create, then send. */
async function besidePool(folder, rows, rounds) {
  const sandbox = await startSandbox(folder, ['--rate-limit', '100000000/15m']);
  const seen = [];
  try {
    await bare(sandbox.ready, rows / 8);
    for (let round = 0; round < rounds; round++) {
      const pool = await bare(sandbox.ready, rows);
      const { ms } = await bulk(folder, sandbox.ready, rows, `pool${round}`);
      seen.push({ pool, own: (rows * 2_000) / ms });
    }
  } finally {
    await sandbox.stop();
  }
  const ratio = median(seen.map(({ pool, own }) => own / pool));
  const [own, pool] = ['own', 'pool'].map((key) => median(seen.map((one) => one[key])).toFixed(0));
  return {
    name: `bulk: requests a second beside a bare undici pool, ${rows} rows`,
    value: times(ratio),
    asked: '>= 0.8 x',
    good: ratio >= 0.8,
    note: `${own} and ${pool} a second, start and end of the process counted`,
  };
}

async function bare({ baseUrl, apiKey }, rows) {
  const { origin, pathname } = new URL(baseUrl);
  const pool = new Pool(origin, { connections: AT_ONCE });
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const post = async (path, body) => {
    const reply = await pool.request({ method: 'POST', path: `${pathname}${path}`, headers, body });
    return reply.body.json();
  };
  const started = performance.now();
  const next = Array.from({ length: rows }, (_, row) => row).values();
  const work = async () => {
    for (const row of next) {
      const signers = [{ email: `p${row}@example.com`, name: `Signer ${row}` }];
      const metadata = { esignRun: 'r', esignRow: row, esignRequestId: `r-${row}` };
      const body = JSON.stringify({ templateId: 'tmpl_nda', signers, metadata });
      const { data } = await post('/esign/envelopes', body);
      await post(`/esign/envelopes/${data.id}/send`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const seconds = (performance.now() - started) / 1_000;
  await pool.close();
  return (rows * 2) / seconds;
}

async function bulk(folder, { baseUrl, apiKey }, rows, name, flags = ['--reserve', '0']) {
  const file = join(folder, `${name}.csv`);
  const lines = Array.from({ length: rows }, (_, row) => `${name}-${row}@example.com,Signer ${row}`);
  await writeFile(file, `email,name\n${lines.join('\n')}\n`);
  const words = [BIN, 'bulk', 'create', file, '--template', 'tmpl_nda', '--send', '--yes', '--json'];
  const env = { ...homeIn(folder), ESIGN_BASE_URL: baseUrl, ESIGN_API_KEY: apiKey };
  return run(process.execPath, [...words, ...flags], { env });
}

/** What the window allows: the first part at once, each next one when the window begins anew. */
async function onWindow(folder) {
  const { requests, seconds } = WINDOW;
  const sandbox = await startSandbox(folder, ['--rate-limit', `${requests}/${seconds}s`]);
  const rows = requests * 2;
  try {
    const { ms } = await bulk(folder, sandbox.ready, rows, 'window');
    const refused = await refusals(sandbox.ready);
    // Four windows of requests: three waits, and the last part takes its time too.
    const allowed = ((rows * 2) / requests) * seconds * 1_000;
    const ratio = ms / allowed;
    return {
      name: `bulk: time on a window of ${requests} requests in ${seconds} s`,
      value: times(ratio),
      asked: '<= 1.1 x',
      good: ratio <= 1.1 && refused === 0,
      note: `${(ms / 1_000).toFixed(1)} s of ${allowed / 1_000} s; ${refused} replies 429`,
    };
  } finally {
    await sandbox.stop();
  }
}

async function refusals(ready) {
  let refused = 0;
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { data, meta } = await auditOf(ready, page);
    pages = meta.pagination.totalPages;
    refused += data.filter((entry) => entry.status === 429).length;
  }
  return refused;
}

/** A long list, against a service that keeps nothing. */
async function memory(folder, many) {
  let made = 0;
  const server = createServer((request, reply) => {
    request.resume().on('end', () => {
      const id = `env_${String(made++).padStart(20, '0')}`;
      const status = request.url.endsWith('/send') ? 'SENT' : 'DRAFT';
      reply.setHeader('content-type', 'application/json').end(JSON.stringify({ data: { id, status } }));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const ready = { baseUrl: `http://127.0.0.1:${server.address().port}/v1`, apiKey: 'sk_bench_0123456789' };
  try {
    const few = await bulk(folder, ready, many / 20, 'few');
    const all = await bulk(folder, ready, many, 'many');
    return {
      name: `memory: bulk run of ${many} rows`,
      value: `${all.peakMb} MB`,
      asked: '< 150 MB',
      good: all.peakMb < 150,
      note: `${few.peakMb} MB at ${many / 20} rows`,
    };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

if (process.argv[1] === import.meta.filename)
  printRows(await benchBulk({ rows: option('rows'), rounds: option('rounds'), many: option('many') }));
