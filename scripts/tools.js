import { join } from 'node:path';
import { ensureInstalled, step } from './ensure.js';

const folder = join(import.meta.dirname, 'tools');
/** The programs of scripts/tools/package.json. They aren't needed to build, test, or use the CLI, so they are installed on demand. */
const PROGRAMS = {
  attw: '@arethetypeswrong/cli/dist/index.js',
  knip: 'knip/bin/knip.js',
  postject: 'postject/dist/cli.js',
  publint: 'publint/src/cli.js',
};

/** Runs one of the tools in the version from the lockfile. */
export async function runTool(name, words, title = name) {
  await ensureInstalled(folder, 'Installing tools');
  await step(title, process.execPath, [join(folder, 'node_modules', PROGRAMS[name]), ...words]);
}
