import { spawn } from 'node:child_process';
import { win32 } from 'node:path';
import { childEnvironment } from './child-environment.ts';

/** Exit code of taskkill if the process does not exist. */
const NOT_FOUND = 128;

/** Returns the program and arguments that end a process tree on Windows. */
function taskkill(pid: number): [string, string[]] {
  // The full path is needed because Windows would search the current folder first.
  const file = win32.join(process.env.SystemRoot || 'C:\\Windows', 'System32', 'taskkill.exe');
  return [file, ['/pid', String(pid), '/T', '/F']];
}

/** Ends a process that leads its group, with all its children. On Windows, doesn't wait, and ends at least the process itself. */
export function endTree(pid: number): void {
  if (process.platform !== 'win32') {
    kill(-pid);
    return;
  }
  spawn(...taskkill(pid), { env: childEnvironment(), stdio: 'ignore', windowsHide: true })
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
