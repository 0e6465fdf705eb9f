import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { isInstalled, programOf } from './packages.js';
import { progress } from './progress.js';

const root = join(import.meta.dirname, '..');

/** Arguments of npm for an installation. */
export const QUIET = ['--no-audit', '--no-fund', '--loglevel=error'];

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

/** Installs the packages of a folder if they are missing or don't match its lockfile. */
export async function ensureInstalled(folder = root, title = 'Installing packages') {
  checkNode();
  const [lock, installed] = ['package-lock.json', 'node_modules/.package-lock.json']
    .map((name) => join(folder, name))
    .map((path) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}));
  if (!isInstalled(lock, installed)) await step(title, 'npm', ['ci', ...QUIET], { cwd: folder });
}

/** Builds if any source is newer than the build. */
export async function ensureBuilt() {
  await ensureInstalled();
  const built = statSync(join(root, 'dist/.built'), { throwIfNoEntry: false });
  if (built !== undefined && newestSource() <= built.mtimeMs) return;
  await step('Building', process.execPath, [join(root, 'scripts/build.js')]);
}

function newestSource() {
  const sources = ['src', 'scripts'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((file) => join(folder, file)),
  );
  const files = ['package.json', 'package-lock.json', ...sources];
  return Math.max(...files.map((file) => statSync(join(root, file)).mtimeMs));
}
