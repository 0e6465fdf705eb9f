import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { showStep } from '../../scripts/progress.js';

/** The built CLI. */
export const BIN = join(import.meta.dirname, '../../bin/run.js');

/**
 * A row of the table. `good` is omitted if the figure has no bound. `runs`: the result of each run, in the unit of the
 * value, which is their median. `growth`: the cost of an item as their number grows.
 * @typedef {{name: string, value: string, runs?: number[], note?: string, asked?: string, good?: boolean,
 * growth?: Growth}} Row
 * @typedef {{what: string, unit: string, costs: {items: number, ms: number}[]}} Growth
 */

export function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}

/**
 * Returns a figure from several runs. `asked` is a bound in its unit: `>= 1.5`, `<= 400`, or `< 200`.
 * @returns {Row}
 */
export function rowOf(name, runs, { unit = 'x', digits = unit === 'x' ? 2 : 0, asked, note } = {}) {
  const figure = median(runs);
  const row = { name, value: `${figure.toFixed(digits)} ${unit}`, runs, note };
  return asked === undefined ? row : { ...row, asked: `${asked} ${unit}`, good: holds(figure, asked) };
}

/**
 * Returns one tool's figure divided by another's, from runs in turn: the median of the rounds' ratios.
 * @returns {Row}
 */
export function ratioRow(name, figures, others, options) {
  return rowOf(
    name,
    figures.map((figure, round) => figure / others[round]),
    options,
  );
}

/**
 * Returns the cost of an item in runs over more and more of them, in processor time including process start.
 * @returns {Growth | undefined}
 */
export function growthOf(what, unit, counts, taken) {
  if (taken.some(({ cpu }) => Number.isNaN(cpu))) return undefined;
  return { what, unit, costs: taken.map(({ cpu }, at) => ({ items: counts[at], ms: cpu / counts[at] })) };
}

function holds(figure, asked) {
  const [sign, bound] = asked.split(' ');
  if (sign === '>=') return figure >= Number(bound);
  return sign === '<=' ? figure <= Number(bound) : figure < Number(bound);
}

/**
 * Runs each of these in turn, round by round, so that a busy moment affects all equally, and returns the results of each
 * round. Skips those that can't run, except the first, which the others are compared with.
 */
export async function inTurn(rounds, takes) {
  const seen = Object.fromEntries(Object.keys(takes).map((name) => [name, []]));
  const [first] = Object.keys(takes);
  for (let round = 0; round < rounds; round++) {
    for (const name of Object.keys(seen)) {
      showStep(`round ${round + 1} of ${rounds}, ${name}`);
      try {
        seen[name].push(await takes[name](round));
      } catch (error) {
        if (name === first) throw error;
        process.stderr.write(`${name} is skipped: ${error.message}\n`);
        delete seen[name];
      }
    }
  }
  return seen;
}

/** Creates separate esign settings in the folder. */
export function homeIn(folder) {
  return {
    PATH: process.env.PATH,
    HOME: folder,
    ESIGN_CONFIG_DIR: join(folder, 'config'),
    ESIGN_STATE_DIR: join(folder, 'state'),
  };
}

/**
 * Runs a program to its end. Returns the duration, the processor time of it and of the children it waited for, in ms, and
 * its peak memory. No other program may end meanwhile, since its time would be counted.
 */
export function run(file, words, { env, input = '', stdout = 'ignore' } = {}) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const before = childrenMs();
    const child = spawn(file, words, { env, stdio: ['pipe', stdout, 'pipe'] });
    let said = '';
    let printed = '';
    let peakMb = 0;
    const look = setInterval(async () => {
      peakMb = Math.max(peakMb, await peakOf(child.pid));
    }, 25);
    child.stderr.on('data', (text) => {
      said += text;
    });
    child.stdout?.on('data', (text) => {
      printed += text;
    });
    child.on('error', (error) => {
      clearInterval(look);
      reject(error);
    });
    child.on('close', (code) => {
      clearInterval(look);
      const ms = performance.now() - started;
      if (code === 0) resolve({ ms, cpu: childrenMs() - before, peakMb, printed, said });
      else reject(new Error(`${file} ended with ${code}: ${said.slice(0, 300)}`));
    });
    child.stdin.on('error', () => undefined).end(input);
  });
}

/** Returns the processor time of all ended children of this process and of theirs. The system counts in 10 ms steps. */
function childrenMs() {
  if (!existsSync('/proc/self/stat')) return Number.NaN;
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

/** Returns the processor time of a running process so far, in ms. */
export async function cpuOf(pid) {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Returns the peak memory of a running process so far, in MB; 0 once it has ended. */
export async function peakOf(pid) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_000);
}

/** Starts a separate sandbox; `ready` is the line it prints when it listens. */
export async function startSandbox(folder, flags = []) {
  const words = [BIN, 'sandbox', 'start', '--ephemeral', '--port', '0', '--json', ...flags];
  const child = spawn(process.execPath, words, { env: homeIn(folder), stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const stop = async () => {
    const ended = once(child, 'exit');
    child.kill();
    await ended;
  };
  return { ready: JSON.parse(line), pid: child.pid, stop };
}

const ROOT = join(import.meta.dirname, '../..');

/** Returns the exports of the given TypeScript files of the repository, combined. */
export async function importSources(folder, ...files) {
  const outfile = join(folder, 'sources.mjs');
  await build({
    stdin: { contents: files.map((file) => `export * from './${file}';`).join('\n'), resolveDir: ROOT },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    logLevel: 'error',
    // Needed by CommonJS packages among the imports.
    banner: {
      js: `import { createRequire } from 'node:module'; const require = createRequire('${pathToFileURL(ROOT)}/');`,
    },
  });
  return import(pathToFileURL(outfile).href);
}

/** Returns a page of the requests that the sandbox has answered. */
export async function auditOf({ baseUrl, apiKey }, page = 1, pageSize = 100) {
  const headers = { authorization: `Bearer ${apiKey}` };
  const { origin } = new URL(baseUrl);
  const reply = await fetch(`${origin}/__sandbox/audit?page=${page}&pageSize=${pageSize}`, { headers });
  return reply.json();
}

/** Formats a ratio: `1.23 x`. */
export function times(ratio) {
  return `${ratio.toFixed(2)} x`;
}

/** Returns the number in `--name 5` from the command line. */
export function option(name) {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : Number(process.argv[at + 1]);
}

/** Returns the range of the runs of a row, such as `0.82–0.91 in 5 runs`. */
export function spreadOf({ value, runs = [] }) {
  if (runs.length < 2) return '';
  const digits = /\.(\d+)/.exec(value)?.[1].length ?? 0;
  const [least, most] = [Math.min(...runs), Math.max(...runs)].map((one) => one.toFixed(digits));
  return `${least}–${most} in ${runs.length} runs`;
}

/** Returns rows as a Markdown table. */
export function tableOf(rows) {
  const lines = rows.map((row) => {
    const { name, value, asked = '', good } = row;
    const verdict = good === undefined ? '' : good ? ' ✓' : ' **missed**';
    return `| ${[name, value, spreadOf(row), `${asked}${verdict}`].join(' | ')} |`;
  });
  return ['| figure | median | all runs | target |', '| --- | --- | --- | --- |', ...lines, ''].join('\n');
}

export function printRows(rows) {
  for (const row of rows) {
    const { name, value, note = '', asked = '', good } = row;
    const verdict = good === undefined ? '' : good ? 'met' : 'NOT MET';
    process.stdout.write(
      `${name.padEnd(66)} ${value.padEnd(24)} ${spreadOf(row).padEnd(24)} ${asked.padEnd(14)} ${verdict.padEnd(8)} ${note}\n`,
    );
  }
}
