import { spawn } from 'node:child_process';
import { win32 } from 'node:path';
import { childEnvironment } from './child-environment.ts';

/** A signal to a process group, by its negative number; on Windows, which has none, a program. */
export type TreeEnding = { group: number } | { file: string; args: readonly string[] };

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
  try {
    if ('group' in ending) process.kill(ending.group, 'SIGKILL');
    else
      spawn(ending.file, ending.args, { env: childEnvironment(), stdio: 'ignore', windowsHide: true }).on(
        'error',
        () => undefined,
      );
  } catch {
    // Nothing is left of it.
  }
}
