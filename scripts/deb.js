import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { step } from './ensure.js';
import { LICENSES } from './notices.js';

// Creates dist/deb/esign-cli_VERSION_ARCH.deb from the standalone executable, the man pages, and the completions.
const root = join(import.meta.dirname, '..');
const executable = join(root, 'dist/standalone/esign');
const run = promisify(execFile);

for (const [file, script] of [
  ['dist/standalone/esign', 'build:standalone'],
  ['dist/man/esign.1', 'build:man'],
]) {
  if (existsSync(join(root, file))) continue;
  process.stderr.write(`${file} doesn't exist. Run \`npm run ${script}\` first.\n`);
  process.exit(1);
}

const { version, description } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
const architecture = (await run('dpkg', ['--print-architecture'])).stdout.trim();
const tree = await mkdtemp(join(tmpdir(), 'esign-deb-'));
try {
  await chmod(tree, 0o755);
  const files = await contents();
  for (const [path, data] of files) await put(path, data, path === 'usr/bin/esign' ? 0o755 : 0o644);
  const sums = files.map(([path, data]) => `${createHash('md5').update(data).digest('hex')}  ${path}\n`);
  await put('DEBIAN/md5sums', sums.join(''));
  await put('DEBIAN/control', control(files.reduce((sum, [, data]) => sum + data.length, 0)));
  const target = join(root, 'dist/deb', `esign-cli_${version}_${architecture}.deb`);
  await mkdir(dirname(target), { recursive: true });
  await step('Packing the .deb', 'dpkg-deb', ['--root-owner-group', '-Zxz', '-z3', '--build', tree, target]);
  await check(target);
  const { size } = await stat(target);
  process.stderr.write(`${relative(root, target)}: ${(size / 1e6).toFixed(0)} MB\n`);
} finally {
  await rm(tree, { recursive: true, force: true });
}

/** Returns the paths of the installed files and their data. */
async function contents() {
  const from = (path) => readFile(join(root, path));
  const completion = async (shell) => Buffer.from((await run(executable, ['autocomplete', shell])).stdout);
  // Our license and those of everything that the executable contains.
  const licenses = await Promise.all(LICENSES.map((name) => from(`dist/standalone/${name}`)));
  const pages = (await readdir(join(root, 'dist/man'))).map(async (page) => [
    `usr/share/man/man1/${page}.gz`,
    packed(await from(`dist/man/${page}`)),
  ]);
  return [
    ['usr/bin/esign', await from('dist/standalone/esign')],
    ...(await Promise.all(pages)),
    ['usr/share/bash-completion/completions/esign', await completion('bash')],
    ['usr/share/zsh/vendor-completions/_esign', await completion('zsh')],
    ['usr/share/fish/vendor_completions.d/esign.fish', await completion('fish')],
    ['usr/share/doc/esign-cli/copyright', Buffer.from(licenses.join(`\n${'-'.repeat(72)}\n\n`))],
    ['usr/share/doc/esign-cli/sbom.cdx.json', await from('dist/standalone/sbom.cdx.json')],
    ['usr/share/doc/esign-cli/changelog.gz', packed(await from('CHANGELOG.md'))],
  ].sort(([one], [other]) => (one < other ? -1 : 1));
}

function control(bytes) {
  return [
    'Package: esign-cli',
    `Version: ${version}`,
    `Architecture: ${architecture}`,
    'Maintainer: The authors of esign-cli',
    'Section: utils',
    'Priority: optional',
    'Depends: libc6 (>= 2.28), libstdc++6, libgcc-s1',
    `Installed-Size: ${Math.ceil(bytes / 1024)}`,
    'Description: send documents for signature from the command line',
    ` ${description}`,
    '',
  ].join('\n');
}

/** Unpacks the package and runs the program in it. */
async function check(target) {
  const folder = await mkdtemp(join(tmpdir(), 'esign-deb-check-'));
  try {
    await step('Checking it', 'dpkg-deb', ['--extract', target, folder]);
    const { stdout } = await run(join(folder, 'usr/bin/esign'), ['--version']);
    if (!stdout.startsWith(`esign-cli/${version} `)) throw new Error(`the .deb contains ${stdout}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function put(name, data, mode = 0o644) {
  const path = join(tree, name);
  await mkdir(dirname(path), { recursive: true, mode: 0o755 });
  await writeFile(path, data);
  await chmod(path, mode);
}

function packed(data) {
  return gzipSync(data, { level: 9 });
}
