import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { EsignError, messageOf, StorageError } from '../../kernel/errors.ts';
import { openRegular } from '../../kernel/files/regular-file.ts';
import { mapAhead } from '../../kernel/streams.ts';
import type { Bucket } from '../bucket/bucket.ts';
import { isBucketMissing } from '../bucket/storage-problems.ts';
import { LOOKUP_INTERVAL_MS } from '../download-limits.ts';
import type { SealWithSigner } from '../seal/check-seal.ts';
import type { FileHash } from './digest.ts';
import { type DownloadOptions, downloadFile, type FileResult } from './download-file.ts';
import { BucketEtags } from './etag-proof.ts';
import { type FileTarget, type LocateOptions, locate } from './locate.ts';
import type { CheckedFile, FetchedFile, SealSource } from './seals.ts';
import { TakenNames } from './taken-names.ts';
import { etagMismatchError, type TransferOptions, transfer } from './transfer.ts';

export interface FetchOptions extends Omit<DownloadOptions, 'etags'>, LocateOptions {
  concurrency: number;
  /** Where the documents come from. */
  sealSource: SealSource;
  /** Whether to save the sealed part of each file to which data was added later. */
  savesSealedParts: boolean;
}

/** What is known of a file before it is saved. */
const NOTHING = { path: null, bytes: null, sha256: null, proof: null };

/**
 * Downloads files and checks their seals. Yields the results in the order of the targets; a failure is a result that contains the error.
 */
export async function* fetchFiles(
  bucket: Bucket,
  targets: readonly FileTarget[],
  options: FetchOptions,
): AsyncGenerator<CheckedFile, void, undefined> {
  const taken = new TakenNames();
  const etags = new BucketEtags();
  const files = mapAhead(targets, options.concurrency, (one) =>
    etags.during(() => fetchFile(bucket, one, taken, { ...options, etags })),
  );
  // The code that checks seals is loaded on first use.
  const { checkSeals } = await import('./seals.ts');
  yield* checkSeals(files, options.sealSource);
}

async function fetchFile(
  bucket: Bucket,
  target: FileTarget,
  taken: TakenNames,
  options: FetchOptions & DownloadOptions,
): Promise<FetchedFile> {
  const { envelopeId, what } = target;
  let result: FileResult = { envelopeId, what, key: target.key, ...NOTHING, status: 'failed', error: null };
  let found: Pick<FetchedFile, 'status' | 'seal'> = { status: null, seal: null };
  try {
    const file = await locate(target, options);
    result.key = file.key;
    taken.take(join(options.folder.dir, file.fileName));
    const { seal, ...saved } = await waitUntilAvailable(() => downloadFile(bucket, file, options), options);
    ({ result } = saved);
    found = { status: file.status, seal };
    const sealedPart = options.savesSealedParts ? await saveSealedPart(result, seal, taken, options) : null;
    return { ...found, result, sealedPart, error: undefined };
  } catch (error) {
    if (options.signal?.aborted || !(error instanceof EsignError)) throw error;
    // If only the sealed part can't be saved, the result still describes the file that was.
    result = { ...result, status: 'failed', error: { code: error.code, message: messageOf(error) } };
    return { ...found, result, sealedPart: null, error };
  }
}

/** Saves what was sealed next to a file to which the service added data later. */
async function saveSealedPart(
  { path }: FileResult,
  checked: SealWithSigner | null,
  taken: TakenNames,
  { folder, force }: FetchOptions,
): Promise<FetchedFile['sealedPart']> {
  const { sealedPartPath, hasSealedPart, writeSealedPart } = await import('../seal/sealed-part.ts');
  if (path === null || checked === null || !hasSealedPart(checked.seal)) return null;
  const file = openRegular(path);
  if (file === undefined) return null;
  try {
    const partPath = sealedPartPath(path);
    taken.take(partPath);
    const sha256 = await writeSealedPart(file, checked.seal.sealedBytes ?? 0, partPath, { force });
    folder.record(partPath, sha256);
    return { path: partPath, sha256 };
  } finally {
    closeSync(file);
  }
}

/** Streams one file to a writable such as stdout. */
export async function fetchToStream(
  bucket: Bucket,
  target: FileTarget,
  write: (chunk: Uint8Array) => Promise<void>,
  options: LocateOptions,
): Promise<FileHash> {
  const { key } = await locate(target, options);
  return waitUntilAvailable(() => streamObject(bucket, key, write, options), options);
}

/**
 * Streams an object. The bytes can only be verified at the end.
 * @throws StorageError STORAGE_CORRUPT after the last byte, if the bytes aren't the object.
 */
async function streamObject(
  bucket: Bucket,
  key: string,
  write: (chunk: Uint8Array) => Promise<void>,
  { clock, signal }: TransferOptions,
): Promise<FileHash> {
  const sink = {
    length: 0,
    write: async (chunk: Uint8Array) => {
      sink.length += chunk.byteLength;
      await write(chunk);
    },
  };
  const { hash } = await transfer(bucket, key, sink, { clock, signal });
  if (hash.hasOtherEtag) throw etagMismatchError(key);
  return hash;
}

/** Retries while the object doesn't exist, until the waiting time is over. */
async function waitUntilAvailable<T>(
  fetch: () => Promise<T>,
  { limit, clock, signal, onWait }: LocateOptions,
): Promise<T> {
  for (;;) {
    try {
      return await fetch();
    } catch (error) {
      const isMissing =
        error instanceof StorageError && error.code === 'STORAGE_NOT_FOUND' && !isBucketMissing(error);
      if (!isMissing || limit.left() === 0) throw error;
      onWait?.(`${error.message} Waiting for it.`);
      await clock.sleep(LOOKUP_INTERVAL_MS, signal);
    }
  }
}
