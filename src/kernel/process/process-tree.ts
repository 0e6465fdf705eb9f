import { spawn } from 'node:child_process';
import { win32 } from 'node:path';
import { childEnvironment } from './child-environment.ts';

/** A signal to a process group, by its negative number; on Windows, which has none, a program. */
export type TreeEnding = { group: number } | { file: string; args: readonly string[] };

/** What taskkill ends with where there is no such process. */
const NOT_FOUND = 128;

/** How a process that leads its group is ended at once with all that it has started. */
export function treeEnding(
  pid: number,
  platform: NodeJS.Platform,
  env: NodeJS.ProcessEnv = process.env,
): TreeEnding {
  if (platform !== 'win32') return { group: -pid };
  // By its whole path: Windows would look in the current folder first.
  const file = win32.join(env.SystemRoot || 'C:\\Windows', 'System32', 'taskkill.exe');
  return { file, args: ['/pid', String(pid), '/T', '/F'] };
}

/** Ends a process that leads its group at once, with all that it has started. */
export function endTree(pid: number): void {
  const ending = treeEnding(pid, process.platform);
  if ('group' in ending) kill(ending.group);
  else endBy(ending, pid);
}

/** Where the program for it does not do it, the process itself is ended at least, and nobody waits for it. */
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
    // Nothing is left of it.
  }
}
