import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { showStep } from '../../scripts/progress.js';
import { auditOf, BIN, homeIn, inTurn, rowOf, run, startSandbox } from './measure.js';

const ROUNDS = 5;
const DAY_MS = 86_400_000;
/** One of this many envelopes is still active. */
const ACTIVE_EVERY = 1_000;

/* Runs `late` and `report` on many envelopes that are already in the index. Almost all have ended, within the last 80 days. */
/** @returns {Promise<import('./measure.js').Row[]>} */
export async function benchFollowUp({ envelopes = 10_000, many = 100_000 } = {}) {
  return [...(await figures(envelopes)), ...(await figures(many))];
}

async function figures(envelopes) {
  const folder = await mkdtemp(join(tmpdir(), 'esign-bench-follow-up-'));
  await writeFile(join(folder, 'seed.json'), JSON.stringify({ envelopes: seeded(envelopes) }));
  const flags = ['--seed', join(folder, 'seed.json'), '--rate-limit', '100000000/15m'];
  const sandbox = await startSandbox(folder, flags);
  try {
    const env = homeIn(folder);
    const esign = (...words) => run(process.execPath, [BIN, ...words, '--json'], { env, stdout: 'pipe' });
    const commands = { late: () => esign('late'), report: () => esign('report', '--by', 'template') };
    showStep(`the first report of ${envelopes}`);
    const { sent } = JSON.parse((await commands.report()).printed);
    if (sent !== envelopes) throw new Error(`it reported ${sent}`);
    const most = 5 + Math.ceil(envelopes / ACTIVE_EVERY);
    const requests = {};
    for (const [name, command] of Object.entries(commands)) {
      const before = (await auditOf(sandbox.ready)).meta.pagination.total;
      await command();
      requests[name] = (await auditOf(sandbox.ready)).meta.pagination.total - before;
    }
    const seen = await inTurn(ROUNDS, commands);
    const among = `with ${envelopes} envelopes`;
    return Object.keys(commands).flatMap((name) => [
      rowOf(
        `${name} ${among}`,
        seen[name].map(({ ms }) => ms / 1_000),
        { unit: 's', digits: 1, asked: '<= 3' },
      ),
      rowOf(
        `memory: ${name} ${among}`,
        seen[name].map(({ peakMb }) => peakMb),
        { unit: 'MB', asked: '< 250' },
      ),
      {
        name: `${name}: requests ${among}`,
        value: String(requests[name]),
        asked: `<= ${most}`,
        good: requests[name] <= most,
        note: `${most - 5} of the envelopes are active`,
      },
    ]);
  } finally {
    await sandbox.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function seeded(count) {
  const statuses = ['COMPLETED', 'COMPLETED', 'COMPLETED', 'DECLINED', 'COMPLETED', 'CANCELLED'];
  return Array.from({ length: count }, (_, at) => ({
    id: `env_${at}`,
    template: 'tmpl_nda',
    status: at % ACTIVE_EVERY === 17 ? 'SENT' : statuses[at % statuses.length],
    subject: `Contract ${at}`,
    createdAt: new Date(Date.now() - DAY_MS - (79 * DAY_MS * at) / count).toISOString(),
    signers: [
      { email: `lukasz${at}@example.com`, name: `Łukasz Nowak ${at}` },
      { email: `anna${at}@example.com`, name: `Anna Nowak ${at}` },
    ],
  }));
}
