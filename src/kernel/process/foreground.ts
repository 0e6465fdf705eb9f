import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { childEnvironment } from './child-environment.ts';

/**
 * Returns false for a background job (`esign … &`), which may write to its terminal but is stopped when it reads from it. Returns
 * true if that can't be determined.
 */
export function isForeground(): boolean {
  const [group, owner] = process.platform === 'linux' ? fromProc() : fromPs();
  return group === undefined || owner === undefined || group === owner;
}

/** The process group of this process, and the foreground process group of its terminal. */
type Groups = readonly [group: string | undefined, owner: string | undefined];

function fromProc(): Groups {
  try {
    // The fields after the name, which may contain spaces: state, parent, group, session, terminal, foreground group.
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
