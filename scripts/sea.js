import { existsSync } from 'node:fs';
import { chmod, copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { step } from './ensure.js';
import { here, nodeOf } from './nodes.js';
import { unsigned } from './pe.js';
import { runTool } from './tools.js';

/** The version of Node in executables if the build itself runs on an older major version. */
const NODE = '24.21.0';
const LINE = Number(NODE.split('.')[0]);
/** Node's marker for the place where data is injected. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/** Returns the Node for an executable: the running one if it is new enough, or one from npm. */
export async function baseNode() {
  if (Number(process.versions.node.split('.')[0]) >= LINE) return process.execPath;
  return nodeOf(NODE, ...here);
}

/** Adds a script and its assets to a copy of Node. */
export async function inject({ node, main, assets, folder, target }) {
  const blob = join(folder, 'parts/sea.blob');
  const config = join(folder, 'parts/sea.json');
  await writeFile(
    config,
    JSON.stringify({
      main,
      output: blob,
      disableExperimentalSEAWarning: true,
      useCodeCache: true,
      // NODE_OPTIONS is for programs that are run with Node, not for this executable.
      execArgvExtension: 'none',
      assets,
    }),
  );
  await step('Packing the parts', node, ['--experimental-sea-config', config]);
  await copyFile(node, target);
  await chmod(target, 0o755);
  await stripped(target);
  const place = ['NODE_SEA_BLOB', blob, '--sentinel-fuse', FUSE];
  const segment = process.platform === 'darwin' ? ['--macho-segment-name', 'NODE_SEA'] : [];
  await runTool('postject', [target, ...place, ...segment], 'Adding the program to Node');
  if (process.platform === 'darwin') await step('Signing', 'codesign', ['--sign', '-', target]);
}

/** Removes Node's signature, which becomes invalid, and 20 MB of debug symbols. */
async function stripped(target) {
  if (process.platform === 'win32') await writeFile(target, unsigned(await readFile(target)));
  if (process.platform === 'darwin') await step('Unsigning', 'codesign', ['--remove-signature', target]);
  if (process.platform !== 'linux' || !existsSync('/usr/bin/strip')) return;
  await step('Leaving symbols out', 'strip', [target]);
}
