import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { StorageError } from '../../kernel/errors.ts';
import { makeFolder } from '../../kernel/files/folder.ts';
import { blocksOf, openRegular } from '../../kernel/files/regular-file.ts';
import { localError } from '../archive/local-error.ts';
import type { Seal } from './check-seal.ts';

/** Returns the path of the sealed part of a file: `NAME.sealed.pdf`, by default next to it. */
export function sealedPartPath(path: string, dir = dirname(path)): string {
  return join(dir, `${basename(path).replace(/\.pdf$/i, '')}.sealed.pdf`);
}

/** Returns true if a seal is intact and doesn't cover the whole file, so that what was sealed is worth a file of its own. */
export function hasSealedPart(seal: Pick<Seal, 'state' | 'coverage'> | null | undefined): boolean {
  return seal?.state === 'intact' && seal.coverage === 'extended';
}

/**
 * Writes the first bytes of an open file, which are what was sealed: a complete PDF. Returns their SHA-256.
 * @throws StorageError STORAGE_LOCAL if they can't be written, or if a different file has that name.
 */
export async function writeSealedPart(file: number, sealedBytes: number, path: string): Promise<string> {
  try {
    const sha256 = await hashOf(file, sealedBytes);
    const existing = openRegular(path);
    if (existing === undefined) await copy(file, sealedBytes, path);
    else if ((await hashAndClose(existing)) !== sha256) throw exists(path);
    return sha256;
  } catch (error) {
    throw localError(error, path);
  }
}

async function copy(from: number, bytes: number, path: string): Promise<void> {
  makeFolder(dirname(path));
  const draft = `${path}.part`;
  rmSync(draft, { force: true });
  const to = openSync(draft, 'wx', 0o600);
  try {
    for await (const block of blocksOf(from, bytes))
      for (let done = 0; done < block.length; ) done += writeSync(to, block, done);
    fsyncSync(to);
  } finally {
    closeSync(to);
  }
  renameSync(draft, path);
}

async function hashAndClose(file: number): Promise<string> {
  try {
    return await hashOf(file);
  } finally {
    closeSync(file);
  }
}

async function hashOf(file: number, bytes?: number): Promise<string> {
  const hash = createHash('sha256');
  for await (const block of blocksOf(file, bytes)) hash.update(block);
  return hash.digest('hex');
}

function exists(path: string): StorageError {
  return new StorageError(
    'STORAGE_LOCAL',
    `${path} already exists with different content. It was not replaced.`,
    {
      hint: 'Move it, or use a different folder.',
    },
  );
}
