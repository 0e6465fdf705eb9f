import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { ensureBuilt } from './ensure.js';
import { progress } from './progress.js';

// Measures all figures in one run and prints them as a table: npm run bench [-- --quick] [--only NAME] [--json FILE] [--write]
// --quick uses small numbers, to check that everything works. --write writes the table into docs/contributing/benchmarks.md.
const PARTS = {
  start: { entry: 'benchStart', quick: { rounds: 5 } },
  bulk: { entry: 'benchBulk', quick: { rows: 500, rounds: 1, many: 2_000 } },
  log: { entry: 'benchLog', quick: { entries: 1_000, rounds: 3 } },
  documents: { entry: 'benchDocuments', quick: { files: 100, rounds: 2, many: 200, large: 10_000_000 } },
  seals: { entry: 'benchSeals', quick: { documents: 100, rounds: 1 } },
  listen: { entry: 'benchListen', quick: { count: 5_000 } },
  watch: { entry: 'benchWatch', quick: { envelopes: 1_000, seconds: 5 } },
  find: { entry: 'benchFind', quick: { envelopes: 500, many: 1_000 } },
  'follow-up': { entry: 'benchFollowUp', quick: { envelopes: 500, many: 1_000 } },
};

const word = (name) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
};
const quick = process.argv.includes('--quick');
// On Node 20, the AWS SDK warns that it will drop support. The CLI also hides this warning.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

await ensureBuilt();
const { printRows, tableOf } = await import('../test/bench/measure.js');
const began = Date.now();
const parts = Object.keys(PARTS).filter((name) => (word('only') ?? name) === name);
const rows = [];
for (const [at, name] of parts.entries()) {
  const { entry, quick: small } = PARTS[name];
  const { [entry]: bench } = await import(`../test/bench/${name}.js`);
  const ended = progress(`Part ${at + 1} of ${parts.length}, ${name}`);
  const some = await bench(quick ? small : {}).catch((error) => [
    { name: `${name}: could not be measured`, value: '-', note: error.message, good: false },
  ]);
  ended(some.every(({ value }) => value !== '-'));
  printRows(some);
  rows.push(...some);
}
const growth = rows.flatMap(({ growth = [] }) => growth).map(growthRow);
printRows(growth);
process.stderr.write(`Total: ${((Date.now() - began) / 60_000).toFixed(1)} minutes.\n`);
const machine = `Node ${process.version}, ${cpus().length} cores, ${cpus()[0]?.model ?? 'an unknown kind'}`;
if (process.argv.includes('--write')) {
  const page = 'docs/contributing/benchmarks.md';
  const heading = '## Results\n';
  const [before] = (await readFile(page, 'utf8')).split(heading);
  await writeFile(page, `${before}${heading}\n${machine}.\n\n${tableOf([...rows, ...growth])}`);
}
if (word('json')) await writeFile(word('json'), `${JSON.stringify({ machine, rows }, null, 2)}\n`);
/** Returns the cost of one item for 10 and 100 times as many, relative to the smallest run, as a row: 1.2 ×, 0.05 ×. */
function growthRow({ what, unit, costs }) {
  const [least, ...more] = costs;
  const counts = [least, costs.at(-1)].map(({ items }) => items.toLocaleString('en-US'));
  const ratios = more.map(({ ms }) => ms / least.ms);
  const factors = ratios.map((ratio) => `${Number(ratio.toPrecision(ratio < 0.1 ? 1 : 2))} ×`);
  return { name: `growth: ${what}, ${counts.join(' to ')} ${unit}`, value: factors.join(', ') };
}
