import { cp, mkdir, rm } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { BUNDLED, bundle } from '../bundle.js';

/** Parts of dist/ that no end-to-end test needs. */
const UNUSED = ['standalone', 'deb', 'man'];

// Builds the package into the folder given as the argument, without minifying it and with source maps. The files don't reference
// their maps, because Node would copy these into the coverage of each process. The folder must be inside the repository, so that
// packages outside the bundle are found.
const root = join(import.meta.dirname, '../..');
const folder = process.argv[2];
if (!folder) throw new Error('Specify the output folder.');

await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
for (const name of ['bin', 'contract', 'package.json', 'oclif.manifest.json'])
  await cp(join(root, name), join(folder, name), { recursive: true });
const dist = join(root, 'dist');
await cp(dist, join(folder, 'dist'), { recursive: true, filter: isWanted });
await bundle(join(folder, 'dist'), { minify: false, sourcemap: 'external' });

function isWanted(path) {
  const [part = ''] = relative(dist, path).split(sep);
  return !BUNDLED.includes(part) && !UNUSED.includes(part);
}
