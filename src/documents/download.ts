import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, EsignError, messageOf, StorageError } from '../kernel/errors.ts';
import { syncFolder } from '../kernel/files.ts';
import type { Bucket, BucketObject } from './bucket.ts';
import type { WantedFile } from './papers.ts';

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
  signal?: AbortSignal;
}

/**
 * Fetches one object into a file: streamed to a temporary file beside it, checked, fsynced, renamed.
 * Under the final name there is never a part and never something that is not the object.
 * @throws StorageError for anything that went wrong; the temporary file is gone then.
 */
export async function downloadFile(
  bucket: Bucket,
  wanted: WantedFile,
  options: DownloadOptions,
): Promise<FileResult> {
  const path = join(options.dir, options.fileName ?? wanted.fileName);
  const temporary = `${path}.${randomBytes(4).toString('hex')}.part`;
  try {
    await mkdir(options.dir, { recursive: true });
    const object = await bucket.open(wanted.key, options.signal);
    const { bytes, sha256 } = await writeObject(object, temporary, wanted.key);
    const status = await publish(temporary, path, sha256, options.force);
    return {
      envelopeId: wanted.envelopeId,
      what: wanted.what,
      key: wanted.key,
      path,
      bytes,
      sha256,
      status,
      error: null,
    };
  } catch (error) {
    await rm(temporary, { force: true });
    if (options.signal?.aborted || error instanceof EsignError) throw error;
    throw localError(error, path);
  }
}

async function writeObject(
  object: BucketObject,
  path: string,
  key: string,
): Promise<{ bytes: number; sha256: string }> {
  const file = await open(path, 'wx', 0o600);
  try {
    const check = paperCheck(object, key);
    for await (const chunk of check.read()) await file.writeFile(chunk);
    await file.sync();
    return check.result();
  } finally {
    await file.close();
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
  const check = paperCheck(await bucket.open(wanted.key, signal), wanted.key);
  for await (const chunk of check.read()) await write(chunk);
  return check.result();
}

/** Passes the bytes on and judges them: size, MD5 where the ETag is one, and the PDF head. */
function paperCheck(object: BucketObject, key: string) {
  const sha256 = createHash('sha256');
  const md5 = createHash('md5');
  let bytes = 0;
  let head = Buffer.alloc(0);
  return {
    async *read(): AsyncGenerator<Uint8Array> {
      try {
        for await (const chunk of object.body) {
          bytes += chunk.byteLength;
          sha256.update(chunk);
          md5.update(chunk);
          if (head.length < 5) head = Buffer.concat([head, chunk.subarray(0, 5)]);
          yield chunk;
        }
      } catch (error) {
        throw new StorageError(
          'STORAGE_UNREACHABLE',
          `The download of ${key} broke off after ${bytes} bytes: ${messageOf(error)}.`,
          {
            cause: error,
            hint: 'Run the command again.',
          },
        );
      }
    },
    result(): { bytes: number; sha256: string } {
      const etag = object.etag?.replaceAll('"', '').toLowerCase();
      const isMd5 = etag !== undefined && /^[0-9a-f]{32}$/.test(etag);
      if (object.size === undefined) throw corrupt(key, 'the bucket did not say how long it is');
      if (object.size !== bytes) throw corrupt(key, `${bytes} of ${object.size} bytes arrived`);
      if (isMd5 && etag !== md5.digest('hex')) throw corrupt(key, 'its checksum (ETag) is wrong');
      if (key.endsWith('.pdf') && head.subarray(0, 5).toString('latin1') !== '%PDF-')
        throw corrupt(key, 'it is not a PDF');
      return { bytes, sha256: sha256.digest('hex') };
    },
  };
}

function corrupt(key: string, why: string): StorageError {
  return new StorageError('STORAGE_CORRUPT', `What the bucket sent for ${key} was refused: ${why}.`, {
    hint: 'Run the command again; if it stays, check what lies in the bucket under this key.',
  });
}

async function publish(
  temporary: string,
  path: string,
  sha256: string,
  force: boolean,
): Promise<'downloaded' | 'unchanged'> {
  const existing = await hashOfFile(path);
  if (existing === sha256) {
    await rm(temporary);
    return 'unchanged';
  }
  if (existing !== undefined && !force) {
    throw new StorageError('STORAGE_LOCAL', `${path} exists and is different; it was left as it is.`, {
      hint: 'Give --force to replace it, or --dir for another folder.',
    });
  }
  await rename(temporary, path);
  await syncFolder(join(path, '..'));
  return 'downloaded';
}

async function hashOfFile(path: string): Promise<string | undefined> {
  try {
    return createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function localError(error: unknown, path: string): StorageError {
  const reasons: Record<string, string> = {
    ENOSPC: 'the disk is full',
    EACCES: "the folder can't be written to",
    EROFS: 'the disk is read-only',
    ENOTDIR: 'a part of the path is not a folder',
    EISDIR: 'a folder has that name',
  };
  const code = codeOf(error) ?? '';
  return new StorageError('STORAGE_LOCAL', `Can't write ${path}: ${reasons[code] ?? messageOf(error)}.`, {
    cause: error,
  });
}
