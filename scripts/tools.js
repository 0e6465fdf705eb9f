import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { step } from './ensure.js';

const folder = join(import.meta.dirname, 'tools');
/** The programs of scripts/tools/package.json. They aren't needed to build, test, or use the CLI, so they are installed on demand. */
const PROGRAMS = {
  attw: '@arethetypeswrong/cli/dist/index.js',
  knip: 'knip/bin/knip.js',
  postject: 'postject/dist/cli.js',
  publint: 'publint/src/cli.js',
};

/** Runs one of the tools in the version from the lockfile. */
export async function runTool(name, words, { title = name, ...options } = {}) {
  await installIn(folder, 'Installing tools');
  await step(title, process.execPath, [join(folder, 'node_modules', PROGRAMS[name]), ...words], options);
}

/** Installs the packages in the folder's lockfile, unless they are already installed. */
export async function installIn(place, title) {
  const lock = readFileSync(join(place, 'package-lock.json'));
  const hash = createHash('sha256').update(lock).update(process.version).digest('hex');
  const stamp = join(place, 'node_modules', '.installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return;
  const install = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
  await step(title, 'npm', install, { cwd: place });
  writeFileSync(stamp, hash);
}
