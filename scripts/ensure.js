import { spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { isInstalled, programOf } from './packages.js';
import { progress } from './progress.js';

const root = join(import.meta.dirname, '..');

/** Runs a command. If it fails, prints its output and exits. */
export async function step(title, command, args, options = {}) {
  const { code, printed } = await attempt(title, command, args, options);
  if (code === 0) return;
  process.stderr.write(printed);
  process.exit(1);
}

/** Runs a command and returns its exit code and output. Shows the elapsed time while it runs. */
export async function attempt(title, command, args, options = {}) {
  const ended = progress(title);
  const result = await outputOf(command, args, options);
  ended(result.code === 0);
  return result;
}

/** Runs a command and returns its exit code and output. `priority` is that of os.setPriority: higher numbers yield to others. */
export async function outputOf(command, args, { priority = 0, ...options } = {}) {
  const [program, words] = programOf(command, args);
  const child = spawn(program, words, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], ...options });
  if (priority !== 0 && child.pid !== undefined) setPriority(child.pid, priority);
  const stop = () => child.kill();
  process.once('exit', stop);
  const printed = [];
  child.stdout.on('data', (chunk) => printed.push(chunk));
  child.stderr.on('data', (chunk) => printed.push(chunk));
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  process.off('exit', stop);
  return { code, printed: Buffer.concat(printed).toString() };
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  process.stderr.write(`esign needs Node 20.19 or newer. This is ${process.versions.node}.\n`);
  process.exit(1);
}

/** Installs the packages if they are missing or don't match the lockfile. */
export async function ensureInstalled() {
  checkNode();
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  if (isInstalled(lock, await noteOfNpm())) return;
  await step('Installing packages', 'npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
}

async function noteOfNpm() {
  try {
    return JSON.parse(await readFile(join(root, 'node_modules/.package-lock.json'), 'utf8'));
  } catch {
    return {};
  }
}

/** Builds if any source is newer than the build. */
export async function ensureBuilt() {
  await ensureInstalled();
  const built = statSync(join(root, 'dist/.built'), { throwIfNoEntry: false });
  if (built !== undefined && (await newestSource()) <= built.mtimeMs) return;
  await step('Building', process.execPath, [join(root, 'scripts/build.js')]);
}

async function newestSource() {
  let newest = Math.max(
    ...['package.json', 'package-lock.json'].map((file) => statSync(join(root, file)).mtimeMs),
  );
  for (const folder of ['src', 'scripts']) {
    for (const file of await readdir(join(root, folder), { recursive: true })) {
      newest = Math.max(newest, statSync(join(root, folder, file)).mtimeMs);
    }
  }
  return newest;
}
