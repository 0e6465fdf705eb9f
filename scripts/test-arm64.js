import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt } from './ensure.js';
import { NODES, nodeOf } from './nodes.js';
import { checkCore } from './systems/core.js';
import { linux } from './systems/system.js';
import { install, pack } from './tarball.js';

// Tests the package on Linux arm64, which QEMU emulates on other processors. For details, see docs/releasing.md.
const NOT_HERE = 77;
const version = NODES[24];
/** The libraries of Debian's cross packages. On arm64 itself, the variable has no effect. */
process.env.QEMU_LD_PREFIX ??= '/usr/aarch64-linux-gnu';

await ensureBuilt();
const node = await nodeOf(version, 'linux', 'arm64');
const { stdout, error, stderr } = spawnSync(node, ['-p', 'process.arch'], { encoding: 'utf8' });
if (stdout?.trim() !== 'arm64') {
  const needed = 'qemu-user-static, binfmt-support, libc6-arm64-cross, and libstdc++6-arm64-cross';
  process.stderr.write(
    `Can't run programs for arm64 (${error?.code ?? stderr}). Debian's ${needed} are needed.\n`,
  );
  process.exit(NOT_HERE);
}
const folder = await mkdtemp(join(tmpdir(), 'esign-arm64-'));
try {
  const { tarball } = await pack(folder);
  const program = await install(tarball, folder, ['--os=linux', '--cpu=arm64']);
  const home = join(folder, 'home of Ada');
  await mkdir(join(home, 'temporary'), { recursive: true });
  const system = linux({ command: [node, program], home, version, arch: 'arm64' });
  system.env.QEMU_LD_PREFIX = process.env.QEMU_LD_PREFIX;
  await checkCore(system);
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
