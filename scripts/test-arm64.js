import { existsSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { NODES, nodeOf } from './nodes.js';
import { checkCore } from './systems/core.js';
import { ensurePackages, withPackage } from './systems/prepare.js';
import { linux } from './systems/system.js';

// The package on Linux arm64: Node of that system under qemu. docs/packaging.md says what runs.
const VERSION = NODES[22];
const LIBRARIES = '/usr/aarch64-linux-gnu';
const qemu = () => ['/usr/bin/qemu-aarch64', '/usr/bin/qemu-aarch64-static'].find(existsSync);

await ensurePackages(
  ['qemu-user', 'libc6-arm64-cross', 'libstdc++6-arm64-cross'],
  () => qemu() !== undefined && existsSync(join(LIBRARIES, 'lib/libstdc++.so.6')),
);
const node = await nodeOf(VERSION, 'linux', 'arm64');
await withPackage(['--os=linux', '--cpu=arm64'], async (folder, program) => {
  const home = join(folder, 'home of Ada');
  await mkdir(join(home, 'temporary'), { recursive: true });
  // What the program starts itself must run under qemu, too: to it this script is Node.
  const emulated = join(folder, 'node');
  const preload = join(folder, 'preload.cjs');
  await writeFile(preload, `process.execPath = ${JSON.stringify(emulated)};\n`);
  await writeFile(
    emulated,
    `#!/bin/sh\nexec ${qemu()} -L ${LIBRARIES} '${node}' --require '${preload}' "$@"\n`,
  );
  await chmod(emulated, 0o755);
  // Emulated code may take ten times as long.
  const env = { ESIGN_TIMEOUT: '4m' };
  await checkCore(linux({ command: [emulated, program], home, version: VERSION, arch: 'arm64', env }));
});
