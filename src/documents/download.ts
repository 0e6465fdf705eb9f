import { mkdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../kernel/clock.ts';
import { codeOf, EsignError, messageOf, StorageError } from '../kernel/errors.ts';
import { syncFolder } from '../kernel/files.ts';
import { lockFile } from '../kernel/process-lock.ts';
import type { Bucket } from './bucket.ts';
import { hashFile } from './hash-file.ts';
import { PaperCheck } from './paper-check.ts';
import type { WantedFile } from './papers.ts';
import { fetchPart, removePart } from './part-file.ts';

/** A fetched file, as `--json` prints it. */
export interface FileResult {
  envelopeId: string | null;
  what: string | null;
  key: string | null;
  path: string | null;
  bytes: number | null;
  sha256: string | null;
  status: 'downloaded' | 'unchanged' | 'failed';
  error: { code: string; message: string } | null;
}

export interface DownloadOptions {
  dir: string;
  /** Another name than the default one. */
  fileName?: string | undefined;
  /** Replace a different file of the same name. */
  force: boolean;
  clock: Clock;
  signal?: AbortSignal;
  onBytes?: ((bytes: number) => void) | undefined;
}

type Sums = { bytes: number; sha256: string; status: 'downloaded' | 'unchanged' };

/**
 * Fetches one object into a file: streamed to `NAME.part`, where a later run goes on, checked, fsynced, renamed.
 * Under the final name there is never a part and never something that is not the object. A file that is there
 * already and equal is not fetched again.
 * @throws StorageError for anything that went wrong.
 */
export async function downloadFile(
  bucket: Bucket,
  wanted: WantedFile,
  options: DownloadOptions,
): Promise<FileResult> {
  const path = join(options.dir, options.fileName ?? wanted.fileName);
  const { envelopeId, what, key } = wanted;
  try {
    await mkdir(dirname(path), { recursive: true });
    const sums = await withLock(path, () => fetchUnlessThere(bucket, key, path, options));
    return { envelopeId, what, key, path, ...sums, error: null };
  } catch (error) {
    if (options.signal?.aborted || error instanceof EsignError) throw error;
    throw localError(error, path);
  }
}

async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const release = await lockFile(
    `${path}.lock`,
    (pid) =>
      new StorageError('STORAGE_LOCAL', `${path} is being fetched by another esign (process ${pid}).`, {
        hint: 'Wait for it, or choose another --dir.',
      }),
  );
  try {
    return await work();
  } finally {
    await release();
  }
}

async function fetchUnlessThere(
  bucket: Bucket,
  key: string,
  path: string,
  options: DownloadOptions,
): Promise<Sums> {
  const { signal, clock, onBytes } = options;
  const there = await sumsOf(path);
  if (there !== undefined) {
    const facts = await bucket.head(key, signal);
    const isMd5 = /^[0-9a-f]{32}$/.test(facts.etag ?? '');
    if (isMd5 && facts.etag === there.md5 && facts.size === there.bytes)
      return { ...pick(there), status: 'unchanged' };
    if (isMd5 && !options.force) throw different(path);
  }
  const part = `${path}.part`;
  const fetched = await fetchPart(part, { bucket, key, clock, signal, onBytes });
  if (there?.sha256 === fetched.sha256) {
    await removePart(part);
    return { ...fetched, status: 'unchanged' };
  }
  if (there !== undefined && !options.force) {
    await removePart(part);
    throw different(path);
  }
  await rename(part, path);
  await syncFolder(dirname(path));
  await removePart(part);
  return { ...fetched, status: 'downloaded' };
}

function pick({ bytes, sha256 }: { bytes: number; sha256: string }): { bytes: number; sha256: string } {
  return { bytes, sha256 };
}

async function sumsOf(path: string): Promise<{ sha256: string; md5: string; bytes: number } | undefined> {
  try {
    return await hashFile(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Streams an object to a writable such as stdout; what was wrong with it is known only at its end.
 * @throws StorageError STORAGE_CORRUPT after the bytes, when they are not the object.
 */
export async function streamObject(
  bucket: Bucket,
  wanted: WantedFile,
  write: (chunk: Uint8Array) => Promise<void>,
  signal?: AbortSignal,
): Promise<{ bytes: number; sha256: string }> {
  const object = await bucket.open(wanted.key, { signal });
  const check = new PaperCheck(wanted.key);
  try {
    for await (const chunk of object.body) {
      check.take(chunk);
      await write(chunk);
    }
  } catch (error) {
    throw new StorageError(
      'STORAGE_UNREACHABLE',
      `The download of ${wanted.key} broke off after ${check.bytes} bytes: ${messageOf(error)}.`,
      { cause: error, hint: 'Run the command again.' },
    );
  }
  return check.result(object);
}

function different(path: string): StorageError {
  return new StorageError('STORAGE_LOCAL', `${path} exists and is different; it was left as it is.`, {
    hint: 'Give --force to replace it, or --dir for another folder.',
  });
}

function localError(error: unknown, path: string): StorageError {
  const reasons: Record<string, string> = {
    ENOSPC: 'the disk is full',
    EACCES: "the folder can't be written to",
    EROFS: 'the disk is read-only',
    ENOTDIR: 'a part of the path is not a folder',
    EISDIR: 'a folder has that name',
    ENAMETOOLONG: 'the name is too long',
  };
  const code = codeOf(error) ?? '';
  return new StorageError('STORAGE_LOCAL', `Can't write ${path}: ${reasons[code] ?? messageOf(error)}.`, {
    cause: error,
  });
}
