import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BIN, homeIn, inTurn, median, option, printRows, ratioRow, run } from './measure.js';

/*
 * Measures how long a command takes compared with `node -e 0`, and its memory; medians of interleaved rounds.
 * To run: node test/bench/start.js [--rounds 25]
 */
const OLD = Number(process.versions.node.split('.')[0]) < 24;
const ENVELOPE = JSON.stringify({ data: { id: 'env_1', status: 'SENT', signers: [] } });

/** @returns {Promise<import('./measure.js').Row[]>} */
export async function benchStart({ rounds = 25 } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'esign-bench-'));
  const server = createServer((_, reply) => {
    reply.writeHead(200, { 'content-type': 'application/json', 'content-length': ENVELOPE.length });
    reply.end(ENVELOPE);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  // Node on Debian may be configured to read the system's certificates at each start; then that counts for all.
  const { NODE_EXTRA_CA_CERTS } = process.env;
  const env = {
    ...homeIn(folder),
    ...(NODE_EXTRA_CA_CERTS ? { NODE_EXTRA_CA_CERTS } : {}),
    ESIGN_BASE_URL: `http://127.0.0.1:${port}/v1`,
    ESIGN_API_KEY: 'sk_bench_0123456789',
  };
  try {
    return [...(await startRows(env, rounds)), await memoryRow(folder, env)];
  } finally {
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function startRows(env, rounds) {
  const esign = (...words) => [process.execPath, BIN, ...words];
  const programs = {
    'node -e 0': [process.execPath, '-e', '0'],
    'esign --version': esign('--version'),
    'esign --help': esign('--help'),
    'esign envelopes get --json': esign('envelopes', 'get', 'env_1', '--json'),
  };
  const asked = {
    'esign --version': '<= 1.2',
    'esign --help': OLD ? '<= 1.6' : '<= 2',
    'esign envelopes get --json': OLD ? '<= 2.6' : '<= 3.6',
  };
  const takes = Object.entries(programs).map(([name, [file, ...words]]) => [
    name,
    async () => (await run(file, words, { env })).ms,
  ]);
  // The first runs fill caches.
  for (const [, take] of takes) for (let round = 0; round < 2; round++) await take();
  const seen = await inTurn(rounds, Object.fromEntries(takes));
  return Object.entries(seen).map(([name, runs]) =>
    ratioRow(`start: ${name}`, runs, seen['node -e 0'], { asked: asked[name], note: inMs(runs) }),
  );
}

function inMs(runs) {
  return `${median(runs).toFixed(0)} ms`;
}

/** The peak memory of a process, as it reports itself when it exits: it is too short-lived to be observed. */
async function memoryRow(folder, env) {
  const file = join(folder, 'peak.cjs');
  await writeFile(
    file,
    "process.on('exit', () => require('fs').writeSync(2, 'peak ' + process.resourceUsage().maxRSS + '.'));",
  );
  const peak =
    (...words) =>
    async () => {
      const { said } = await run(process.execPath, ['--require', file, ...words], { env });
      return Number(/peak (\d+)/.exec(said)?.[1]) / 1_000;
    };
  const { own, floor } = await inTurn(5, {
    own: peak(BIN, 'envelopes', 'get', 'env_1', '--json'),
    floor: peak('-e', '0'),
  });
  return ratioRow('memory: esign envelopes get relative to node -e 0', own, floor, {
    asked: '<= 1.5',
    note: `${median(own).toFixed(0)} MB and ${median(floor).toFixed(0)} MB`,
  });
}

if (process.argv[1] === import.meta.filename) printRows(await benchStart({ rounds: option('rounds') }));
