import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const installStamp = join(root, 'node_modules', '.esign-installed');
const buildStamp = join(root, 'dist', '.built');

/** Runs a command, its output kept back unless it fails; a line with the time passed shows that it works. */
export async function step(title, command, args, options = {}) {
  const started = Date.now();
  const live = process.stderr.isTTY;
  const say = (end) =>
    process.stderr.write(
      `${live ? '\r' : ''}${title} … ${Math.round((Date.now() - started) / 1000)} s${end}`,
    );
  const child = spawn(command, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
    ...options,
  });
  const printed = [];
  child.stdout.on('data', (chunk) => printed.push(chunk));
  child.stderr.on('data', (chunk) => printed.push(chunk));
  if (!live) process.stderr.write(`${title} …\n`);
  const timer = setInterval(() => (live ? say('') : say('\n')), live ? 250 : 15_000);
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  clearInterval(timer);
  say(code === 0 ? ', done\n' : ', failed\n');
  if (code === 0) return;
  process.stderr.write(Buffer.concat(printed));
  process.exit(1);
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  process.stderr.write(`esign needs Node 20.19 or newer; this is ${process.versions.node}.\n`);
  process.exit(1);
}

function lockHash() {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .update(process.version)
    .digest('hex');
}

/** Installs the packages when they are missing or not those of the lockfile. */
export async function ensureInstalled() {
  checkNode();
  if (existsSync(installStamp) && readFileSync(installStamp, 'utf8') === lockHash()) return;
  await step('Installing packages', 'npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
  writeFileSync(installStamp, lockHash());
}

/** Builds when something in the sources is newer than the build. */
export async function ensureBuilt() {
  await ensureInstalled();
  if (existsSync(buildStamp) && (await newestSource()) <= statSync(buildStamp).mtimeMs) return;
  await step('Building', process.execPath, [join(root, 'scripts/build.js')]);
  await mkdir(join(root, 'dist'), { recursive: true });
  writeFileSync(buildStamp, '');
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
