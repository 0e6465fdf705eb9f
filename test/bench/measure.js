import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/** The tool as it is built. */
export const BIN = join(import.meta.dirname, '../../bin/run.js');

/**
 * A row of the table. `good` is left out where nothing is asked of a figure.
 * @typedef {{name: string, value: string, note?: string, asked?: string, good?: boolean}} Row
 */

export function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}

/** Settings of its own for a run of esign, in the folder. */
export function homeIn(folder) {
  return {
    PATH: process.env.PATH,
    HOME: folder,
    ESIGN_CONFIG_DIR: join(folder, 'config'),
    ESIGN_STATE_DIR: join(folder, 'state'),
  };
}

/** Runs a program to its end; how long it took, and the most memory it held. */
export function run(file, words, { env, input = '', stdout = 'ignore' } = {}) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(file, words, { env, stdio: ['pipe', stdout, 'pipe'] });
    let said = '';
    let printed = '';
    let peakMb = 0;
    const look = setInterval(async () => {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
      peakMb = Math.max(peakMb, Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_000));
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
      if (code === 0) resolve({ ms: performance.now() - started, peakMb, printed, said });
      else reject(new Error(`${file} ended with ${code}: ${said.slice(0, 300)}`));
    });
    child.stdin.on('error', () => undefined).end(input);
  });
}

/** A sandbox of its own; `ready` is the line it prints when it listens. */
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

/** What files of the repository written in TypeScript export, together. */
export async function importSources(folder, ...files) {
  const outfile = join(folder, 'sources.mjs');
  await build({
    stdin: { contents: files.map((file) => `export * from './${file}';`).join('\n'), resolveDir: ROOT },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    logLevel: 'error',
    // For CommonJS packages among what they import.
    banner: {
      js: `import { createRequire } from 'node:module'; const require = createRequire('${pathToFileURL(ROOT)}/');`,
    },
  });
  return import(pathToFileURL(outfile).href);
}

/** A page of the requests that the sandbox has answered. */
export async function auditOf({ baseUrl, apiKey }, page = 1, pageSize = 100) {
  const headers = { authorization: `Bearer ${apiKey}` };
  const { origin } = new URL(baseUrl);
  const reply = await fetch(`${origin}/__sandbox/audit?page=${page}&pageSize=${pageSize}`, { headers });
  return reply.json();
}

/** `1.23 x`. */
export function times(ratio) {
  return `${ratio.toFixed(2)} x`;
}

/** `--name 5` of the command line as a number. */
export function option(name) {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : Number(process.argv[at + 1]);
}

export function printRows(rows) {
  for (const { name, value, note = '', asked = '', good } of rows) {
    const verdict = good === undefined ? '' : good ? 'met' : 'NOT MET';
    process.stdout.write(
      `${name.padEnd(66)} ${value.padEnd(24)} ${asked.padEnd(14)} ${verdict.padEnd(8)} ${note}\n`,
    );
  }
}
