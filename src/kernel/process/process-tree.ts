import { spawn } from 'node:child_process';
import { win32 } from 'node:path';
import { childEnvironment } from './child-environment.ts';

/** How to end a process tree: with a signal to the process group, or with a program on Windows. */
export type TreeEnding = { group: number } | { file: string; args: readonly string[] };

/** Exit code of taskkill if the process does not exist. */
const NOT_FOUND = 128;

/** Returns how to end a process group immediately. */
export function treeEnding(
  pid: number,
  platform: NodeJS.Platform,
  env: NodeJS.ProcessEnv = process.env,
): TreeEnding {
  if (platform !== 'win32') return { group: -pid };
  // The full path is needed because Windows would search the current folder first.
  const file = win32.join(env.SystemRoot || 'C:\\Windows', 'System32', 'taskkill.exe');
  return { file, args: ['/pid', String(pid), '/T', '/F'] };
}

/** Ends a process that leads its group, with all its children, immediately. */
export function endTree(pid: number): void {
  const ending = treeEnding(pid, process.platform);
  if ('group' in ending) kill(ending.group);
  else endBy(ending, pid);
}

/** Ends a process tree with a program. If that fails, ends at least the process itself. Doesn't wait. */
function endBy({ file, args }: Extract<TreeEnding, { file: string }>, pid: number): void {
  spawn(file, args, { env: childEnvironment(), stdio: 'ignore', windowsHide: true })
    .on('error', () => kill(pid))
    .on('exit', (code) => {
      if (code !== 0 && code !== NOT_FOUND) kill(pid);
    });
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
}
