import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { QUIET, step } from './ensure.js';

const root = join(import.meta.dirname, '..');

/** Packs the package as it is published. Returns its path and its files. */
export async function pack(folder) {
  const words = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await promisify(execFile)('npm', words, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
  const [{ filename, files }] = JSON.parse(stdout);
  return { tarball: join(folder, filename), files };
}

/** Installs a tarball in a new folder, with `more` arguments for npm. Returns the path of its executable. */
export async function install(tarball, folder, more = ['--offline']) {
  await installIn(folder, 'Installing the package', tarball, more);
  return join(folder, 'node_modules/esign-cli/bin/run.js');
}

/** Installs a package in a folder, with `more` arguments for npm. */
export async function installIn(folder, title, what, more) {
  await mkdir(folder, { recursive: true });
  // Without it, npm would install into the surrounding package.
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  await step(title, 'npm', ['install', ...more, ...QUIET, what], { cwd: folder });
}
