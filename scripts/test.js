import { ensureBuilt, outputOf } from './ensure.js';
import { runVitest } from './vitest.js';

// The README's second command: installs the packages and builds, if necessary, then runs the checks that every change needs.
// `npm run test:full` runs everything else.
const checks = {
  'Types, and lint with types': ['node_modules/oxlint/bin/oxlint'],
  'Format and lint': ['node_modules/@biomejs/biome/bin/biome', 'check', '.'],
  Layers: [
    'node_modules/dependency-cruiser/bin/dependency-cruise.mjs',
    ...['src', '--config', '.dependency-cruiser.cjs'],
  ],
  Wording: ['scripts/words.js'],
};

await ensureBuilt();
const running = Object.entries(checks).map(check);
const words = ['--tags-filter', '!full', ...process.argv.slice(2)];
const code = await runVitest(['unit', 'promises', 'process'], words);
const failures = (await Promise.all(running)).filter((one) => one.code !== 0);
for (const { title, printed } of failures) process.stderr.write(`${title}: failed\n${printed}\n`);
process.exitCode = failures.length > 0 ? 1 : code;

/** Runs a check next to the tests, which often wait. Reports its result immediately; its output follows after the tests. */
async function check([title, words]) {
  // The type checker is a Go program that is done within seconds: with fewer collections, it takes a third less CPU time.
  const env = { GOGC: '400', ...process.env };
  const result = await outputOf(process.execPath, words, { env, priority: 10 });
  process.stderr.write(`${title}: ${result.code === 0 ? 'done' : 'failed'}\n`);
  return { title, ...result };
}
