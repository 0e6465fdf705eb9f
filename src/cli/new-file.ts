import { writeFile } from 'node:fs/promises';
import { UsageError } from '../kernel/errors.ts';
import { writeReason } from '../kernel/files/disk-reason.ts';
import type { CommandTerminal } from './terminal.ts';

/** Writes a new file. `-` is stdout. */
export async function writeNewFile(
  path: string,
  text: string,
  force: boolean,
  terminal: CommandTerminal,
): Promise<void> {
  if (path === '-') return terminal.out(text);
  try {
    await writeFile(path, text, { flag: force ? 'w' : 'wx' });
  } catch (error) {
    const why = writeReason(error);
    throw new UsageError(`Can't write ${path}: ${why}.`, {
      cause: error,
      hint: 'Choose a different path.',
    });
  }
}
