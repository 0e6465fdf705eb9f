import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureBuilt } from './ensure.js';
import { progress } from './progress.js';
import { runVitest } from './vitest.js';

// Runs the unit and end-to-end tests and reports which lines of src they reach, both in their own process and in spawned ones.
// coverage/coverage.txt lists the missed lines of each file. Arguments are passed to Vitest. A run of only some tests misses more
// lines, so it has no required percentage.
// npm run test:coverage [-- test/e2e/events.test.ts]

/**
 * The required percentage of lines: the measured one minus two, rounded down to a multiple of five. Which lines of a race or a
 * retry are reached differs from run to run, and a machine without a keychain or poppler reaches fewer. Code without any tests is
 * still noticed.
 */
const REQUIRED_LINES = 95;

const root = join(import.meta.dirname, '..');
const folder = join(root, 'coverage');
const raw = join(folder, 'spawned');
const here = join(folder, 'in-process');
const reachedHere = join(here, 'coverage-final.json');
const copy = join(folder, 'package');
const chosen = process.argv.slice(2);

await ensureBuilt();
const built = progress('Building for coverage');
await buildCopy();
built(true);
for (const left of [raw, here]) await rm(left, { recursive: true, force: true });
await mkdir(raw, { recursive: true });
const options = [
  '--coverage.enabled',
  '--coverage.provider=v8',
  '--coverage.reporter=json',
  '--coverage.reportOnFailure',
  '--coverage.include=src/**/*.ts',
  `--coverage.reportsDirectory=${here}`,
];
const env = { ESIGN_BIN: join(copy, 'bin/run.js'), ESIGN_COVERAGE: raw };
const passed = (await runVitest(['unit', 'e2e'], [...options, ...chosen], env)) === 0;
if (!existsSync(reachedHere)) {
  console.log('The tests did not finish. Coverage is not reported.');
  process.exit(1);
}
const { addSpawned, spawnedCoverage } = await import('./spawned-coverage.js');
const { map: spawned, processes, torn } = await spawnedCoverage(raw, join(copy, 'dist'), root);
const { default: libCoverage } = await import('istanbul-lib-coverage');
const map = libCoverage.createCoverageMap(JSON.parse(await readFile(reachedHere, 'utf8')));
addSpawned(map, spawned);
await rm(raw, { recursive: true, force: true });

const { default: libReport } = await import('istanbul-lib-report');
const { default: reports } = await import('istanbul-reports');
const context = libReport.createContext({ dir: folder, coverageMap: map });
reports.create('text', { file: 'coverage.txt' }).execute(context);
reports.create('text-summary').execute(context);
console.log(`Includes ${processes} spawned processes. For each file, see coverage/coverage.txt.`);
if (torn > 0) console.log(`${torn} processes were killed while writing their coverage.`);
const lines = map.getCoverageSummary().lines.pct;
const isEnough = chosen.length > 0 || lines >= REQUIRED_LINES;
if (!isEnough) console.log(`${lines}% of the lines are reached, but ${REQUIRED_LINES}% are required.`);
if (!passed) console.log('Tests failed; the figures are not those of a whole run.');
process.exitCode = passed && isEnough ? 0 : 1;

/**
 * Builds the package again, without minifying it and with source maps. The files don't reference their maps, because Node would
 * copy these into the coverage of each process. It is inside the repository, so that packages outside the bundle are found.
 */
async function buildCopy() {
  const { bundle } = await import('./bundle.js');
  await rm(copy, { recursive: true, force: true });
  const unchanged = ['fonts', 'help', 'inspector', 'pages', 'types'].map((name) => `dist/${name}`);
  for (const name of ['bin', 'contract', 'package.json', 'oclif.manifest.json', ...unchanged])
    await cp(join(root, name), join(copy, name), { recursive: true });
  await bundle(join(copy, 'dist'), { minify: false, sourcemap: 'external' });
}
