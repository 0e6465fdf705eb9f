import { closeSync, openSync } from 'node:fs';

/** The terminal a process was started from, whatever its standard streams are. */
const PATH = process.platform === 'win32' ? '\\\\.\\CONIN$' : '/dev/tty';

/** Returns a file descriptor to read from; the caller closes it. */
export function openControllingTerminal(): number {
  return openSync(PATH, process.platform === 'win32' ? 'r+' : 'r');
}

/** Returns false in a job without a terminal, such as in cron or CI. */
export function hasControllingTerminal(): boolean {
  try {
    closeSync(openControllingTerminal());
    return true;
  } catch {
    return false;
  }
}
