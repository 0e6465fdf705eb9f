import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Finished, Home } from './cli.ts';
import { needs } from './tools.ts';

/** The system calls that change a disk, except plain writes, since those to pipes can't be distinguished. */
const CHANGES = [
  'mkdir',
  'chmod',
  'fchmod',
  'rename',
  'link',
  'unlink',
  'rmdir',
  'utimensat',
  'ftruncate',
  'pwrite64',
  'fsync',
  'fdatasync',
] as const;
const FAULTS = { EIO: 'error=EIO', ENOSPC: 'error=ENOSPC', kill: 'signal=KILL' } as const;
export type DiskFault = keyof typeof FAULTS;

const works = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;
/** For tests that make system calls fail; a container may forbid that even if strace is installed. */
export const needsInjection = {
  ...needs('strace'),
  skip: !works('strace', '-f', '-o', '/dev/null', '--inject=rename:error=EIO', 'true'),
};
/** Whether a small disk can be mounted here. */
export const canMount = works('unshare', '-Urm', 'mount', '-t', 'tmpfs', '-o', 'size=8k', 'none', '/mnt');

export interface Struck extends Finished {
  /** Such as `EIO at fsync 2`. */
  at: string;
}

/**
 * Runs a command repeatedly, with the fault at the first, second, … call of each kind that changes the disk, until it makes
 * fewer calls or `calls` of them have failed.
 */
export async function* strike(
  home: Home,
  fault: DiskFault,
  args: () => readonly string[] | Promise<readonly string[]>,
  calls: number,
  more: { env?: Readonly<Record<string, string>>; input?: string } = {},
): AsyncGenerator<Struck, void, undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'esign-strace-'));
  try {
    for (const call of CHANGES) {
      for (let nth = 1; nth <= calls; nth++) {
        const log = join(folder, `${call}-${nth}`);
        const inject = `--inject=${call}:${FAULTS[fault]}:when=${nth}`;
        // With seccomp-bpf strace is faster, but misses all except the first call that it should kill at.
        const fast = fault === 'kill' ? [] : ['--seccomp-bpf'];
        const under = ['strace', '-f', '-qq', ...fast, '-o', log, '-e', `trace=${call}`, inject];
        // One thread for the disk, so that its calls are ordered.
        const env = { ...more.env, UV_THREADPOOL_SIZE: '1' };
        const run = await home.run(await args(), { ...more, under, env });
        if (!/INJECTED|killed by SIGKILL/.test(await readFile(log, 'utf8'))) break;
        yield { ...run, at: `${fault} at ${call} ${nth}` };
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const ON_SMALL_DISK = `mount -t tmpfs -o "size=$1" none "$2" && cp -a "$2.full/." "$2/" || exit 99
disk=$2; shift 2; "$@"; code=$?; rm -rf "$disk.full"; cp -a "$disk/." "$disk.full"; exit $code`;

/** Runs a command with the folder on a disk of this many KiB; its files are in the folder afterward. */
export async function onSmallDisk(
  home: Home,
  folder: string,
  kib: number,
  args: readonly string[],
  input = '',
): Promise<Finished> {
  const outside = `${folder}.full`;
  await mkdir(folder, { recursive: true });
  await rm(outside, { recursive: true, force: true });
  await cp(folder, outside, { recursive: true });
  const under = ['unshare', '-Urm', 'bash', '-c', ON_SMALL_DISK, 'bash', `${kib}k`, folder];
  const run = await home.run(args, { under, input });
  if (run.code === 99) throw new Error(`${kib} KiB are too few for what is there already`);
  await rm(folder, { recursive: true });
  await cp(outside, folder, { recursive: true });
  await rm(outside, { recursive: true });
  return run;
}
