import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  auditOf,
  BIN,
  growthOf,
  homeIn,
  inTurn,
  median,
  option,
  printRows,
  ratioRow,
  run,
  startSandbox,
  times,
} from './measure.js';

/*
 * Compares a bulk run with a bare undici pool that makes the same calls, with a small rate window, and measures its memory.
 * To run: node test/bench/bulk.js [--rows 10000] [--rounds 3] [--many 100000]
 */
/** Longer than the two seconds that every run waits. */
const WINDOW = { requests: 1_000, seconds: 8 };

/** @returns {Promise<import('./measure.js').Row[]>} */
export async function benchBulk({ rows = 10_000, rounds = 3, many = 100_000 } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'esign-bench-'));
  try {
    const table = [...(await comparedWithPool(folder, rows, rounds)), await onWindow(folder)];
    if (many > 0) table.push(await memory(folder, many));
    return table;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Each row takes two requests in both: create, then send. Both are measured as whole processes, from start to exit. */
async function comparedWithPool(folder, rows, rounds) {
  const sandbox = await startSandbox(folder, ['--rate-limit', '100000000/15m']);
  const { ready } = sandbox;
  try {
    await bare(folder, ready, rows / 8);
    const { own, pool } = await inTurn(rounds, {
      own: (round) => bulk(folder, ready, rows, `pool${round}`),
      pool: () => bare(folder, ready, rows),
    });
    const perSecond = (runs) => runs.map(({ ms }) => (rows * 2_000) / ms);
    const perRow = (runs) => runs.map(({ cpu }) => (cpu * 1_000) / rows);
    const [fast, floor] = [perSecond(own), perSecond(pool)];
    const [work, least] = [perRow(own), perRow(pool)];
    return [
      ratioRow(`bulk: requests per second, relative to a bare undici pool, ${rows} rows`, fast, floor, {
        asked: '>= 0.6',
        note: `${median(fast).toFixed(0)} and ${median(floor).toFixed(0)} per second`,
      }),
      ratioRow(`bulk: processor time, relative to a bare undici pool, ${rows} rows`, work, least, {
        note: `${median(work).toFixed(0)} and ${median(least).toFixed(0)} µs per row, all threads`,
      }),
    ];
  } finally {
    await sandbox.stop();
  }
}

function bare(folder, { baseUrl, apiKey }, rows) {
  const env = { ...homeIn(folder), ESIGN_BASE_URL: baseUrl, ESIGN_API_KEY: apiKey };
  return run(process.execPath, [join(import.meta.dirname, 'pool.js'), String(rows)], { env });
}

async function bulk(folder, { baseUrl, apiKey }, rows, name) {
  const file = join(folder, `${name}.csv`);
  const lines = Array.from({ length: rows }, (_, row) => `${name}-${row}@example.com,Signer ${row}`);
  await writeFile(file, `email,name\n${lines.join('\n')}\n`);
  const words = [BIN, 'bulk', 'create', file, '--template', 'tmpl_nda', '--send', '--yes', '--json'];
  const env = { ...homeIn(folder), ESIGN_BASE_URL: baseUrl, ESIGN_API_KEY: apiKey };
  return run(process.execPath, words, { env });
}

/** The time that the window allows: the first part immediately, each later one when a new window begins. */
async function onWindow(folder) {
  const { requests, seconds } = WINDOW;
  const sandbox = await startSandbox(folder, ['--rate-limit', `${requests}/${seconds}s`]);
  const rows = requests * 2;
  try {
    const { ms } = await bulk(folder, sandbox.ready, rows, 'window');
    const refused = await refusals(sandbox.ready);
    // 10% of each window is left to others, so there are five windows: four waits.
    const allowed = ((rows * 2) / requests) * seconds * 1_000;
    const ratio = ms / allowed;
    return {
      name: `bulk: time with a rate limit of ${requests} requests in ${seconds} s`,
      value: times(ratio),
      asked: '<= 1.1 x',
      good: ratio <= 1.1 && refused === 0,
      note: `${(ms / 1_000).toFixed(1)} s of ${allowed / 1_000} s; ${refused} responses with 429`,
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

/** A long list, against a service that stores only what its list shows of drafts. */
async function memory(folder, many) {
  const made = [];
  const server = createServer((request, reply) => {
    const pieces = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => {
      const body = answer(new URL(request.url, 'http://service'), Buffer.concat(pieces).toString());
      reply.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    });
  });
  const answer = ({ pathname, searchParams }, body) => {
    if (pathname.endsWith('/send')) return { data: { id: pathname.split('/').at(-2), status: 'SENT' } };
    if (pathname.includes('/templates/')) return { data: { id: 'tmpl_nda' } };
    if (body === '') return pageOf(made, Number(searchParams.get('page') ?? 1));
    const { signers, metadata } = JSON.parse(body);
    const id = `env_${String(made.length).padStart(20, '0')}`;
    made.push({ id, status: 'DRAFT', createdAt: new Date().toISOString(), signers, metadata });
    return { data: made.at(-1) };
  };
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const ready = { baseUrl: `http://127.0.0.1:${server.address().port}/v1`, apiKey: 'sk_bench_0123456789' };
  try {
    const counts = [many / 100, many / 10, many].map(Math.ceil);
    const taken = [];
    for (const count of counts) {
      made.length = 0;
      taken.push(await bulk(folder, ready, count, `many${count}`));
    }
    const [few, all] = taken.slice(-2);
    return {
      name: `memory: bulk run of ${many} rows`,
      value: `${all.peakMb} MB`,
      asked: '< 160 MB',
      good: all.peakMb < 160,
      note: `${few.peakMb} MB at ${counts.at(-2)} rows`,
      growth: growthOf('bulk create', 'rows', counts, taken),
    };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Returns a page of 100, newest first. */
function pageOf(made, page) {
  const end = Math.max(0, made.length - (page - 1) * 100);
  const data = made.slice(Math.max(0, end - 100), end).reverse();
  const totalPages = Math.ceil(made.length / 100);
  return { data, meta: { pagination: { page, pageSize: 100, total: made.length, totalPages } } };
}

if (process.argv[1] === import.meta.filename)
  printRows(await benchBulk({ rows: option('rows'), rounds: option('rounds'), many: option('many') }));
