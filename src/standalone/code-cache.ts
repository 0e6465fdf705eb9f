import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '../kernel/folder.ts';
import type { Assets } from './files.ts';
import { start } from './main.ts';
import type { Program } from './program.ts';

/*
 * The executable as it runs while it is built: its parts lie beside this file, and what V8 compiled for a command is
 * kept for the executable.
 */
const folder = import.meta.dirname;
const bytes = (name: string) => readFileSync(join(folder, name));
const assets: Assets = {
  bytes,
  text: (name) => bytes(name).toString('utf8'),
  has: (name) => !name.startsWith('cache/') && existsSync(join(folder, name)),
};

await start(assets, process.argv.slice(2), (program) => process.once('exit', () => keep(program)));

/** Of what several commands compiled of a file, the most is kept. */
function keep(program: Program): void {
  for (const [path, script] of program.scripts) {
    const file = join(folder, 'cache', path);
    const compiled = script.createCachedData();
    if (existsSync(file) && statSync(file).size >= compiled.byteLength) continue;
    makeFolder(dirname(file));
    writeFileSync(file, compiled);
  }
}
