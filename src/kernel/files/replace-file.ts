import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from './folder.ts';

/**
 * Replaces an expendable file and creates its folder if needed. A reader sees either the old or the new text. If the machine
 * crashes, both may be lost.
 */
export function replaceFile(path: string, content: string): void {
  makeFolder(dirname(path), 0o700);
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, content, { mode: 0o600 });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
