import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BIN, homeIn, median, option, printRows, run, times } from './measure.js';

/*
 * How long a command takes beside `node -e 0`, and gh where it is installed; medians of interleaved rounds.
 * By hand: node test/bench/start.js [--rounds 25]
 */
const OLD = Number(process.versions.node.split('.')[0]) < 22;
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
  // Node on Debian may be set up to read the system's certificates at each start; then that counts for all.
  const { NODE_EXTRA_CA_CERTS } = process.env;
  const env = {
    ...homeIn(folder),
    ...(NODE_EXTRA_CA_CERTS ? { NODE_EXTRA_CA_CERTS } : {}),
    ESIGN_BASE_URL: `http://127.0.0.1:${port}/v1`,
    ESIGN_API_KEY: 'sk_bench_0123456789',
  };
  const esign = (...words) => ({ file: process.execPath, words: [BIN, ...words] });
  const programs = [
    { name: 'node -e 0', file: process.execPath, words: ['-e', '0'] },
    { name: 'esign --version', ...esign('--version'), asked: OLD ? 1.4 : 1.6 },
    { name: 'esign --help', ...esign('--help'), asked: OLD ? 1.6 : 2 },
    {
      name: 'esign envelopes get --json',
      ...esign('envelopes', 'get', 'env_1', '--json'),
      asked: OLD ? 2.2 : 3,
    },
  ];
  if (isThere('gh')) programs.push({ name: 'gh --version', file: 'gh', words: ['--version'] });
  try {
    return [...timeRows(programs, await race(programs, env, rounds)), await memoryRow(folder, env)];
  } finally {
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function isThere(program) {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

async function race(programs, env, rounds) {
  const seen = new Map(programs.map(({ name }) => [name, []]));
  for (let round = -2; round < rounds; round++) {
    for (const { name, file, words } of programs) {
      const { ms } = await run(file, words, { env });
      if (round >= 0) seen.get(name).push(ms);
    }
  }
  return seen;
}

function timeRows(programs, seen) {
  const floor = median(seen.get('node -e 0'));
  return programs.map(({ name, asked }) => {
    const ms = median(seen.get(name));
    const row = { name: `start: ${name}`, value: times(ms / floor), note: `${ms.toFixed(0)} ms` };
    return asked === undefined ? row : { ...row, asked: `<= ${asked} x`, good: ms / floor <= asked };
  });
}

/** The most memory a process held, as it says itself at its end: it is over too soon to be watched. */
async function memoryRow(folder, env) {
  const file = join(folder, 'peak.cjs');
  await writeFile(
    file,
    "process.on('exit', () => require('fs').writeSync(2, 'peak ' + process.resourceUsage().maxRSS + '.'));",
  );
  const peak = async (...words) => {
    const seen = [];
    for (let round = 0; round < 5; round++) {
      const { said } = await run(process.execPath, ['--require', file, ...words], { env });
      seen.push(Number(/peak (\d+)/.exec(said)?.[1]) / 1_000);
    }
    return median(seen);
  };
  const [floor, own] = [await peak('-e', '0'), await peak(BIN, 'envelopes', 'get', 'env_1', '--json')];
  return {
    name: 'memory: esign envelopes get beside node -e 0',
    value: times(own / floor),
    asked: '<= 1.5 x',
    good: own / floor <= 1.5,
    note: `${own.toFixed(0)} MB and ${floor.toFixed(0)} MB`,
  };
}

if (process.argv[1] === import.meta.filename) printRows(await benchStart({ rounds: option('rounds') }));
