import { closeSync, openSync } from 'node:fs';

/** The path of the terminal from which a process was started, even if its standard streams are redirected. */
const PATH = process.platform === 'win32' ? '\\\\.\\CONIN$' : '/dev/tty';

/** Opens the terminal for reading and returns a file descriptor, which the caller closes. */
export function openControllingTerminal(): number {
  return openSync(PATH, process.platform === 'win32' ? 'r+' : 'r');
}

/** Returns false for a process without a terminal, such as in cron or CI. */
export function hasControllingTerminal(): boolean {
  try {
    closeSync(openControllingTerminal());
    return true;
  } catch {
    return false;
  }
}
