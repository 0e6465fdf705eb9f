import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { growthChart } from './bench-chart.js';
import { ensureBuilt } from './ensure.js';
import { progress } from './progress.js';

// Measures all figures in one run and prints them as a table: npm run bench [-- --quick] [--only NAME] [--json FILE] [--write]
// --quick uses small numbers, to check that everything works. --write updates the table in docs/benchmarks.md.
const root = join(import.meta.dirname, '..');
const PARTS = {
  start: { entry: 'benchStart', quick: { rounds: 5, turns: 2 } },
  bulk: { entry: 'benchBulk', quick: { rows: 500, rounds: 1, many: 2_000 } },
  campaign: { entry: 'benchCampaign', quick: { rows: 500 } },
  documents: { entry: 'benchDocuments', quick: { files: 100, rounds: 2, many: 200, large: 100 } },
  seals: { entry: 'benchSeals', quick: { documents: 100, rounds: 1 } },
  listen: { entry: 'benchListen', quick: { count: 5_000 } },
  watch: { entry: 'benchWatch', quick: { envelopes: 200, seconds: 10, hours: 2, many: 1_000 } },
  compat: { entry: 'benchCompat', quick: { rounds: 200 } },
  find: { entry: 'benchFind', quick: { envelopes: 500, many: 1_000 } },
  'follow-up': { entry: 'benchFollowUp', quick: { envelopes: 500, many: 1_000 } },
  programs: { entry: 'benchPrograms', quick: { rounds: 3 } },
  sandbox: { entry: 'benchSandbox', quick: { envelopes: 1_000, seconds: 2, many: 5_000 } },
  growth: { entry: 'benchGrowth', quick: { rows: 1_000, envelopes: 1_000, seconds: 5 } },
};

const word = (name) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
};
const quick = process.argv.includes('--quick');
// On Node 20, the AWS SDK warns that it will drop support. The CLI also hides this warning.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

await ensureBuilt();
const { printRows, spreadOf } = await import('../test/bench/measure.js');
const began = Date.now();
const parts = Object.keys(PARTS).filter(
  (name) => (word('only') ?? name) === name && existsSync(join(root, 'test/bench', `${name}.js`)),
);
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
process.stderr.write(`Total: ${((Date.now() - began) / 60_000).toFixed(1)} minutes.\n`);
const machine = `Node ${process.version}, ${cpus().length} cores, ${cpus()[0]?.model ?? 'an unknown kind'}`;
if (word('json')) await writeFile(word('json'), `${JSON.stringify({ machine, rows }, null, 2)}\n`);
const growths = rows.flatMap(({ growth = [] }) => growth);
if (process.argv.includes('--write')) {
  const file = join(root, 'docs/benchmarks.md');
  await writeFile(file, page(await readFile(file, 'utf8')));
  // A single part would replace the curves of the others.
  if (word('only') === undefined)
    await writeFile(join(root, 'docs/benchmarks-growth.svg'), growthChart(growths));
}

/** Returns the page. With --only, the other rows of the current page stay as they are. */
function page(current) {
  const verdict = ({ good }) => (good === undefined ? '' : good ? 'met' : '**not met**');
  const measured = rows.map((row) => [
    row.name,
    `| ${row.name} | ${row.value} | ${spreadOf(row)} | ${row.asked ?? ''} | ${verdict(row)} | ${row.note ?? ''} |`,
  ]);
  const kept = word('only') === undefined ? [] : current.matchAll(/^\| (.+?) \| .*\|$/gm);
  const lines = new Map(
    [...kept].filter(([, name]) => name !== 'what' && name !== '---').map(([line, name]) => [name, line]),
  );
  for (const [name, line] of measured) lines.set(name, line);
  const separately = word('only') === undefined ? '' : ' Some parts were measured separately.';
  return `# Benchmarks

Measure the speed and memory use of \`esign\` on your machine. \`npm run bench\` measures every figure below in less than 20 minutes on two
cores, and \`npm run bench -- --write\` updates this page. Machines differ, so most figures are ratios to another program, measured
alternately in the same run. Programs that aren't installed (\`gh\`, \`aws\`, \`rclone\`, \`pdfsig\`, \`webhook\`, Ceph) are left out. \`--only start\`
(or ${Object.keys(PARTS).slice(1).join(', ')}) runs one part, \`--quick\` uses small
numbers, and \`--json FILE\` writes JSON.

\`figure\` is the median of all runs, and \`range\` spans the lowest to the highest. Ignore differences that are smaller than the range. \`x\`
means the ratio to the program in the row. \`target\` is the goal for the figure, and the next column shows whether it was met. \`details\`
contains the absolute values from this run.

## How costs grow

The chart shows the processor time per item, including program startup, for 10 and 100 times as many items as in the smallest run. If a line
is flat or falling, the cost per item doesn't grow with the number of items. If the line rises, the cost grows.

![Cost per item at 1, 10, and 100 times the number of items, for each kind of work](benchmarks-growth.svg)

## Figures

Last run: ${machine}.${separately}

| what | figure | range | target | | details |
| --- | --- | --- | --- | --- | --- |
${[...lines.values()].join('\n')}
`;
}
