import { writeFile } from 'node:fs/promises';
import { codeOf, UsageError } from '../kernel/errors.ts';
import type { Surroundings } from './surroundings.ts';

/** Writes a file; with `force` also over one that is there. `-` is stdout. @throws UsageError when it can't. */
export async function writeNewFile(
  path: string,
  text: string,
  options: { force: boolean },
  surroundings: Surroundings,
): Promise<void> {
  if (path === '-') return surroundings.terminal.out(text);
  try {
    await writeFile(path, text, { flag: options.force ? 'w' : 'wx' });
  } catch (error) {
    const why = codeOf(error) === 'EEXIST' ? 'it is there already' : (codeOf(error) ?? 'unknown reason');
    throw new UsageError(`Can't write ${path}: ${why}.`, {
      cause: error,
      hint: options.force ? 'Give another name.' : 'Give another name, or --force.',
    });
  }
  if (!surroundings.json) surroundings.notice(`Written: ${path}.`);
}
