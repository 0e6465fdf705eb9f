import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { showStep } from '../../scripts/progress.js';
import { auditOf, BIN, growthOf, homeIn, inTurn, median, rowOf, run, startSandbox } from './measure.js';

const MOST_REQUESTS = 5;
const ROUNDS = 7;

/* Searches many envelopes, the first time and again. Almost all ended long ago, as in a real account. */
/** @returns {Promise<import('./measure.js').Row[]>} */
export async function benchFind({ envelopes = 10_000, many = 100_000 } = {}) {
  const counts = [many / 100, envelopes, many];
  const taken = [];
  const rows = [];
  for (const count of counts) {
    const { cpu, table } = await figures(count);
    taken.push({ cpu });
    if (count >= envelopes) rows.push(...table);
  }
  rows.at(-1).growth = growthOf('find', 'envelopes', counts, taken);
  return rows;
}

async function figures(envelopes) {
  const folder = await mkdtemp(join(tmpdir(), 'esign-bench-find-'));
  await writeFile(join(folder, 'seed.json'), JSON.stringify({ envelopes: seeded(envelopes) }));
  const flags = ['--seed', join(folder, 'seed.json'), '--rate-limit', '100000000/15m'];
  const sandbox = await startSandbox(folder, flags);
  try {
    const env = homeIn(folder);
    const find = () =>
      run(process.execPath, [BIN, 'find', `lukasz${envelopes - 1}`, '--json'], { env, stdout: 'pipe' });
    showStep(`the first time among ${envelopes}`);
    const first = await find();
    if (JSON.parse(first.printed).length !== 1) throw new Error('it did not find the one');
    const before = (await auditOf(sandbox.ready)).meta.pagination.total;
    await find();
    const requests = (await auditOf(sandbox.ready)).meta.pagination.total - before;
    const seen = await inTurn(ROUNDS, {
      find,
      version: () => run(process.execPath, [BIN, '--version'], { env }),
    });
    const among = `of ${envelopes} envelopes`;
    const more = seen.find.map(({ ms }, round) => ms - seen.version[round].ms);
    const peaks = seen.find.map(({ peakMb }) => peakMb);
    const table = [
      {
        name: `find: first search ${among}`,
        value: `${(first.ms / 1_000).toFixed(1)} s`,
        note: 'reads all of them',
      },
      rowOf(`find: later search ${among}, minus the time of --version`, more, {
        unit: 'ms',
        asked: envelopes <= 10_000 ? '<= 400' : '<= 1000',
      }),
      {
        name: `find: requests for a later search ${among}`,
        value: String(requests),
        asked: `<= ${MOST_REQUESTS}`,
        good: requests <= MOST_REQUESTS,
        note: 'one of them for the envelope shown',
      },
      rowOf(`memory: find ${among}`, peaks, { unit: 'MB', asked: '< 250' }),
    ];
    return { table, cpu: median(seen.find.map(({ cpu }) => cpu)) };
  } finally {
    await sandbox.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function seeded(count) {
  return Array.from({ length: count }, (_, at) => ({
    id: `env_${at}`,
    template: 'tmpl_nda',
    status: at % 20 === 17 ? 'SENT' : 'COMPLETED',
    subject: `Contract ${at}`,
    signers: [{ email: `lukasz${at}@example.com`, name: `Łukasz Nowak ${at}` }],
  }));
}
