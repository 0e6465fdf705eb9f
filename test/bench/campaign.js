import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BIN, homeIn, inTurn, median, rowOf, run, startSandbox } from './measure.js';

const ROUNDS = 5;
/** Copies a CSV file, as the lowest cost of reading and writing its rows. */
const COPY = 'require("fs").createReadStream(process.argv[1]).pipe(process.stdout)';

/* The state of a list after it was sent: `bulk status` and `bulk export --into`, whose envelopes are all open. */
/** @returns {Promise<import('./measure.js').Row[]>} */
export async function benchCampaign({ rows = 10_000 } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'esign-bench-campaign-'));
  const sandbox = await startSandbox(folder, ['--rate-limit', '100000000/15m']);
  try {
    const file = join(folder, 'list.csv');
    const lines = Array.from({ length: rows }, (_, row) => `c${row}@example.com,Signer ${row}`);
    await writeFile(file, `email,name\n${lines.join('\n')}\n`);
    const { baseUrl, apiKey } = sandbox.ready;
    const env = { ...homeIn(folder), ESIGN_BASE_URL: baseUrl, ESIGN_API_KEY: apiKey };
    const esign = (...words) => run(process.execPath, [BIN, 'bulk', ...words], { env, stdout: 'pipe' });
    await esign('create', file, '--template', 'tmpl_nda', '--send', '--yes', '--json');
    const { printed } = await esign('status', '--json');
    const reported = JSON.parse(printed).length;
    if (reported !== rows) throw new Error(`bulk status reported ${reported} of ${rows} rows`);
    const seen = await inTurn(ROUNDS, {
      'bulk status': () => esign('status', '--json'),
      'bulk export --into': () => esign('export', '--into', file),
      copy: () => run(process.execPath, ['-e', COPY, file], { stdout: 'pipe' }),
    });
    const perRow = (name) => seen[name].map(({ ms }) => ms / rows);
    const copied = `a bare copy of the file takes ${median(perRow('copy')).toFixed(3)} ms`;
    return ['bulk status', 'bulk export --into'].flatMap((name) => [
      rowOf(`${name}: time per row, ${rows} rows`, perRow(name), { unit: 'ms', digits: 3, note: copied }),
      rowOf(
        `memory: ${name}, ${rows} rows`,
        seen[name].map(({ peakMb }) => peakMb),
        { unit: 'MB', asked: '< 200' },
      ),
    ]);
  } finally {
    await sandbox.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
