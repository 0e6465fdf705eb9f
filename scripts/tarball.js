import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { step } from './ensure.js';

const root = join(import.meta.dirname, '..');
const run = promisify(execFile);

/** Packs the package as it is published. Returns its path and its files. */
export async function pack(folder) {
  const words = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await run('npm', words, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
  const [{ filename, files }] = JSON.parse(stdout);
  return { tarball: join(folder, filename), files };
}

/** Installs a tarball in a new folder, with `more` arguments for npm. Returns the path of its executable. */
export async function install(tarball, folder, more = ['--offline']) {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  const words = ['install', ...more, '--no-audit', '--no-fund', '--loglevel=error', tarball];
  await step('Installing the package', 'npm', words, { cwd: folder });
  return join(folder, 'node_modules/esign-cli/bin/run.js');
}
