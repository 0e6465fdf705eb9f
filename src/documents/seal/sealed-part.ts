import { randomBytes } from 'node:crypto';
import { closeSync, constants, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../kernel/files/folder.ts';
import { blocksOf, openRegular, sha256Of } from '../../kernel/files/regular-file.ts';
import { fileDiffersError, localError } from '../archive/local-error.ts';
import type { Seal } from './check-seal.ts';

const { O_NOFOLLOW = 0 } = constants;

/** Returns the path of the sealed part of a file: `NAME.sealed.pdf`, next to it. */
export function sealedPartPath(path: string): string {
  return `${path.replace(/\.pdf$/i, '')}.sealed.pdf`;
}

/** Returns true if a seal is intact and doesn't cover the whole file, so that what was sealed is worth a separate file. */
export function hasSealedPart(seal: Pick<Seal, 'state' | 'coverage'> | null | undefined): boolean {
  return seal?.state === 'intact' && seal.coverage === 'extended';
}

/**
 * Writes the first bytes of an open file, which are what was sealed: a complete PDF. Returns their SHA-256. Parts can be written at the same
 * time, even if they get the same path.
 * @throws StorageError STORAGE_LOCAL if they can't be written, or if a different file has that name and `force` isn't set.
 */
export async function writeSealedPart(
  file: number,
  sealedBytes: number,
  path: string,
  { force = false } = {},
): Promise<string> {
  try {
    const sha256 = await sha256Of(file, sealedBytes);
    const existing = openRegular(path, O_NOFOLLOW);
    if (existing !== undefined && (await hashAndClose(existing)) === sha256) return sha256;
    if (existing !== undefined && !force) throw fileDiffersError(path);
    const draft = await copy(file, sealedBytes, dirname(path));
    try {
      await publish(draft, path, sha256, force);
    } finally {
      rmSync(draft, { force: true });
    }
    return sha256;
  } catch (error) {
    throw localError(error, path);
  }
}

/** Gives the draft its name, unless another part got it in the meantime. */
async function publish(draft: string, path: string, sha256: string, force: boolean): Promise<void> {
  const existing = force ? undefined : openRegular(path, O_NOFOLLOW);
  if (existing === undefined) renameSync(draft, path);
  else if ((await hashAndClose(existing)) !== sha256) throw fileDiffersError(path);
}

/** Copies the first bytes to a new file in the folder. Returns its path. */
async function copy(from: number, bytes: number, dir: string): Promise<string> {
  makeFolder(dir);
  const draft = join(dir, `.${randomBytes(6).toString('hex')}.part`);
  const to = openSync(draft, 'wx', 0o600);
  try {
    for await (const block of blocksOf(from, bytes))
      for (let done = 0; done < block.length; ) done += writeSync(to, block, done);
    fsyncSync(to);
    return draft;
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(to);
  }
}

async function hashAndClose(file: number): Promise<string> {
  try {
    return await sha256Of(file);
  } finally {
    closeSync(file);
  }
}
