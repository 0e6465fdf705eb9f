import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { installIn } from './tarball.js';

const root = join(import.meta.dirname, '..');

/** The latest release of each major version that is available for every system. */
export const NODES = { 20: '20.20.2', 22: '22.23.3', 24: '24.21.0', 26: '26.10.0' };

/** Returns the path of a version of Node for a system, which is installed from npm once. `system` is linux, darwin, or win. */
export async function nodeOf(version, system, arch) {
  const name = `node-${system}-${arch}`;
  const folder = join(root, 'node_modules/.cache', `node-${version}`, `${system}-${arch}`);
  const node = join(folder, 'node_modules', name, 'bin', system === 'win' ? 'node.exe' : 'node');
  if (existsSync(node)) return node;
  // The package is for the target system, not for this one.
  const foreign = ['--force', `--os=${system === 'win' ? 'win32' : system}`, `--cpu=${arch}`];
  await installIn(folder, `Fetching Node ${version} for ${system}-${arch}`, `${name}@${version}`, foreign);
  return node;
}

/** The name of this system in Node's packages. */
export const here = [process.platform === 'win32' ? 'win' : process.platform, process.arch];
