import { accessSync, constants, statSync } from 'node:fs';
import { open, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf, UsageError } from '../errors.ts';
import { writeReason } from './disk-reason.ts';
import { replaceAtomic } from './files.ts';

/** Returns the format that the end of a file's name stands for. @throws UsageError for any other. */
export function formatOf<F extends string>(path: string, formats: readonly F[]): F {
  const ending = /\.[^./\\]*$/.exec(path)?.[0] ?? '';
  const format = formats.find((one) => `.${one}` === ending.toLowerCase());
  if (format !== undefined) return format;
  const stem = ending === '' ? path : path.slice(0, -ending.length);
  throw new UsageError(`Can't write ${path}: its name must end in ${endings(formats)}.`, {
    hint: `Example: ${stem}.${formats[0] ?? ''}`,
  });
}

function endings(formats: readonly string[]): string {
  const names = formats.map((one) => `.${one}`);
  const last = names.pop() ?? '';
  return names.length === 0 ? last : `${names.join(', ')}${names.length > 1 ? ',' : ''} or ${last}`;
}

/**
 * Checks that a file can be created, before the work for its content begins.
 * @throws UsageError if it exists (unless `force`), or if its folder doesn't or can't be written.
 */
export function checkNewFile(path: string, force: boolean): void {
  try {
    const there = statSync(path, { throwIfNoEntry: false });
    if (there !== undefined && !there.isFile())
      throw Object.assign(new Error(path), { code: there.isDirectory() ? 'EISDIR' : 'ENOTFILE' });
    if (there !== undefined && !force) throw Object.assign(new Error(path), { code: 'EEXIST' });
    accessSync(dirname(path), constants.W_OK);
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

/** Checks that the folder of a file exists. @throws UsageError otherwise */
export function checkFolderOf(path: string): void {
  try {
    accessSync(dirname(path));
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

/**
 * Writes a new file. With `force`, it replaces an existing one, whose content is kept if the new one can't be written.
 * @throws UsageError if it exists (unless `force`) or can't be written.
 */
export async function writeNewFile(
  path: string,
  content: string | Uint8Array,
  force: boolean,
): Promise<void> {
  try {
    if (force) await replaceAtomic(path, (draft) => writeFile(draft, content, { flag: 'wx' }));
    else await writeOrRemove(path, content);
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

/** Writes a file that doesn't exist. If the disk is full, no part of it is left. */
async function writeOrRemove(path: string, content: string | Uint8Array): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await file.writeFile(content);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

function cannotWrite(path: string, error: unknown): UsageError {
  return new UsageError(`Can't write ${path}: ${writeReason(error)}.`, {
    cause: error,
    hint: codeOf(error) === 'EEXIST' ? 'To replace it, add --force.' : 'Choose a different path.',
  });
}
