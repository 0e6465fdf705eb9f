import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { childEnvironment } from './child-environment.ts';

/**
 * False for a job in the background (`esign … &`): it may write to its terminal, but is stopped when it asks for keys.
 * True where that can't be told.
 */
export function isForeground(): boolean {
  const [group, owner] = process.platform === 'linux' ? fromProc() : fromPs();
  return group === undefined || owner === undefined || group === owner;
}

/** Our process group, and the one that has the terminal. */
type Groups = readonly [group: string | undefined, owner: string | undefined];

function fromProc(): Groups {
  try {
    // Behind the name, which may hold blanks: state, parent, group, session, terminal, the group that has the terminal.
    const fields = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return [fields[2], fields[5]];
  } catch {
    return [undefined, undefined];
  }
}

function fromPs(): Groups {
  if (process.platform === 'win32') return [undefined, undefined];
  const words = ['-o', 'pgid=,tpgid=', '-p', String(process.pid)];
  const { stdout } = spawnSync('ps', words, { env: childEnvironment(), encoding: 'utf8' });
  const [group, owner] = stdout.trim().split(/\s+/);
  return [group || undefined, owner];
}
