import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureBuilt, step } from './ensure.js';

// Runs the unit and the end-to-end tests and reports which lines of src they reach, in the process of the tests and in those
// that they spawn. coverage/source.json has the missed lines of each file. Arguments go to Vitest; what they leave out is
// missed, so that nothing is required of the figures then.
// npm run test:coverage [-- test/e2e/events.test.ts]

/**
 * Of the lines of src, in percent: two under what was measured, rounded down to a multiple of five. Which lines of a race
 * or a retry are reached differs from run to run, and a machine without a keychain or poppler reaches fewer; a part
 * that nothing tests is noticed all the same.
 */
const REQUIRED_LINES = 90;

const root = join(import.meta.dirname, '..');
const folder = join(root, 'coverage');
const raw = join(folder, 'spawned');
const here = join(folder, 'in-process');
const reachedHere = join(here, 'coverage-final.json');
const copy = join(folder, 'package');
const chosen = process.argv.slice(2);
const say = (line) => process.stdout.write(`${line}\n`);

await ensureBuilt();
await step('Building for coverage', process.execPath, [join(root, 'scripts/coverage/build.js'), copy]);
for (const left of [raw, here]) await rm(left, { recursive: true, force: true });
await mkdir(raw, { recursive: true });
const passed = (await suite()) === 0;
if (!existsSync(reachedHere)) {
  say('The tests came to no end, so there is nothing to tell.');
  process.exit(1);
}
const { files, processes, torn } = await measured();
await rm(raw, { recursive: true, force: true });
await writeFile(join(folder, 'source.json'), `${JSON.stringify(files, null, 1)}\n`);

const { reportText, share, total } = await import('./coverage/report.js');
say(`\n${reportText(files)}\n`);
const percent = (kind) => share(total(files.map((file) => file[kind])));
say(
  `The process of the tests reaches ${percent('inProcess').toFixed(1)} % of the lines, ` +
    `the ${processes} spawned ones ${percent('spawned').toFixed(1)} %, together ${percent('lines').toFixed(1)} %.`,
);
if (torn > 0) say(`${torn} processes were killed as they wrote.`);
const lines = percent('lines');
const isEnough = chosen.length > 0 || lines >= REQUIRED_LINES;
if (!isEnough) say(`${lines.toFixed(1)} % of the lines are reached, ${REQUIRED_LINES} % are required.`);
if (!passed) say('Tests failed; the figures are not those of a whole run.');
process.exitCode = passed && isEnough ? 0 : 1;

function suite() {
  const args = [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    ...['--project', 'unit', '--project', 'e2e'],
    ...[
      '--coverage.enabled',
      '--coverage.provider=v8',
      '--coverage.reporter=json',
      '--coverage.reportOnFailure',
    ],
    '--coverage.include=src/**/*.ts',
    `--coverage.reportsDirectory=${here}`,
    ...chosen,
  ];
  const env = { ...process.env, ESIGN_BIN: join(copy, 'bin/run.js'), ESIGN_COVERAGE: raw };
  const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit', env });
  return new Promise((resolve) => child.on('close', resolve));
}

async function measured() {
  const { default: libCoverage } = await import('istanbul-lib-coverage');
  const { reachedFiles } = await import('./coverage/report.js');
  const { spawnedCoverage } = await import('./coverage/spawned.js');
  const { map, ...counts } = await spawnedCoverage(raw, join(copy, 'dist'), root);
  const inProcess = libCoverage.createCoverageMap(JSON.parse(await readFile(reachedHere, 'utf8')));
  return { files: reachedFiles(inProcess, map, root), ...counts };
}
