import { readFile } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { codeOf, UsageError } from '../kernel/errors.ts';
import { writeFileAtomic } from '../kernel/files.ts';
import type { FileResult } from './download.ts';
import { hashFile } from './hash-file.ts';

/** Beside the files, in the form that `sha256sum -c` reads. */
export const MANIFEST = 'SHA256SUMS';
const LINE = /^([0-9a-f]{64}) [ *](.+)$/;

/** The lines of a folder's manifest, name to SHA-256; empty when there is none. */
export async function readManifest(dir: string): Promise<Map<string, string>> {
  const path = join(dir, MANIFEST);
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return '';
    throw new UsageError(`Can't read ${path} (${codeOf(error) ?? 'unknown reason'}).`, { cause: error });
  });
  const sums = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, sum, name] = LINE.exec(line) ?? [];
    if (sum !== undefined && name !== undefined) sums.set(name, sum);
    else if (line !== '')
      throw new UsageError(`${path} is not a list of SHA-256 sums: "${line.slice(0, 60)}".`);
  }
  return sums;
}

/** Adds files of the folder to its manifest; the lines of others stay. */
export async function addToManifest(
  dir: string,
  files: readonly { path: string; sha256: string }[],
): Promise<void> {
  if (files.length === 0) return;
  const sums = await readManifest(dir);
  for (const { path, sha256 } of files) sums.set(relative(dir, path).split(sep).join('/'), sha256);
  const lines = [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, sum]) => `${sum}  ${name}\n`);
  await writeFileAtomic(join(dir, MANIFEST), lines.join(''), 0o644);
}

/**
 * Hashes every file of a folder's manifest anew: `unchanged`, or `failed` with what is wrong.
 * @throws UsageError when there is no manifest.
 */
export async function* verifyManifest(dir: string): AsyncGenerator<FileResult, void, undefined> {
  const sums = await readManifest(dir);
  if (sums.size === 0)
    throw new UsageError(`There is no ${MANIFEST} in ${dir}.`, {
      hint: '`esign envelopes download … --dir DIR` writes one.',
    });
  for (const [name, sum] of sums) yield verifyOne(dir, name, sum);
}

async function verifyOne(dir: string, name: string, sum: string): Promise<FileResult> {
  const path = join(dir, ...name.split('/'));
  const result = { envelopeId: null, what: null, key: null, path, bytes: null, sha256: null };
  const failed = (message: string): FileResult => ({
    ...result,
    status: 'failed',
    error: { code: 'STORAGE_CORRUPT', message },
  });
  if (!resolve(path).startsWith(`${resolve(dir)}${sep}`)) return failed(`${name} is outside the folder.`);
  try {
    const { sha256, bytes } = await hashFile(path);
    if (sha256 === sum) return { ...result, bytes, sha256, status: 'unchanged', error: null };
    return { ...failed(`${name} is not what was downloaded: its SHA-256 is another.`), bytes, sha256 };
  } catch (error) {
    return failed(
      codeOf(error) === 'ENOENT'
        ? `${name} is missing.`
        : `${name} can't be read (${codeOf(error) ?? 'unknown reason'}).`,
    );
  }
}
