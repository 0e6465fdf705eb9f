import type { Client } from '../../api/client.ts';
import type { Envelope } from '../../api/schemas.ts';
import type { Clock } from '../../kernel/clock.ts';
import { EsignError, messageOf, StorageError } from '../../kernel/errors.ts';
import type { Paper } from '../../kernel/vocabulary.ts';
import type { Bucket } from '../bucket/bucket.ts';
import { type DownloadOptions, downloadFile, type FileResult } from './file.ts';
import { fileOf, keyOf, type WantedFile } from './papers.ts';

/** How long to wait for a file that should be there but is not yet, in ms. */
export interface Patience {
  waitMs: number;
  clock: Clock;
  signal?: AbortSignal;
  onWait?: (reason: string) => void;
}

const LOOK_EVERY_MS = 1_000;

/**
 * The file of an envelope's paper. A completed envelope whose key is still null is asked for again
 * until the patience ends; one that is not completed has nothing to wait for. `known` is the envelope
 * as it was seen last, and saves asking when it names the file already.
 */
export async function locatePaper(
  client: Client,
  id: string,
  what: Paper,
  patience: Patience,
  known?: Envelope,
): Promise<WantedFile> {
  if (known !== undefined && keyOf(known, what) !== undefined) return fileOf(known, what);
  const deadline = patience.clock.now() + patience.waitMs;
  for (;;) {
    const envelope = await client.envelopes.get(id, patience.signal);
    const soon = what === 'document' || envelope.status === 'COMPLETED';
    if (keyOf(envelope, what) !== undefined || !soon || patience.clock.now() >= deadline)
      return fileOf(envelope, what);
    patience.onWait?.(`The service has not named the ${what} file of ${id} yet; waiting.`);
    await patience.clock.sleep(LOOK_EVERY_MS, patience.signal);
  }
}

/** Runs a fetch again while the object is not there yet and the patience lasts. */
export async function untilThere<T>(fetch: () => Promise<T>, patience: Patience): Promise<T> {
  const deadline = patience.clock.now() + patience.waitMs;
  for (;;) {
    try {
      return await fetch();
    } catch (error) {
      const missing = error instanceof StorageError && error.code === 'STORAGE_NOT_FOUND';
      if (!missing || patience.clock.now() >= deadline) throw error;
      patience.onWait?.(`${error.message} Waiting for it.`);
      await patience.clock.sleep(LOOK_EVERY_MS, patience.signal);
    }
  }
}

/** One file to fetch, however its key is found. */
export interface FileWish {
  envelopeId: string | null;
  what: Paper | null;
  /** The key, where it is known beforehand. */
  key: string | null;
  /** The name it gets in the folder; null when it can't be named, and then `locate` says why. */
  fileName: string | null;
  locate: () => Promise<WantedFile>;
}

/** Where a wish comes from, in words. */
export function sourceOf(wish: FileWish): string {
  return wish.key ?? `the ${wish.what ?? ''} file of ${wish.envelopeId ?? ''}`;
}

/** A result for each wish; a failure is a result, too, and carries its error. */
export async function fetchFile(
  bucket: Bucket,
  wish: FileWish,
  options: DownloadOptions,
  patience: Patience,
): Promise<{ result: FileResult; error: EsignError | undefined }> {
  let { key } = wish;
  try {
    const wanted = await wish.locate();
    key = wanted.key;
    const named = wish.fileName === null ? wanted : { ...wanted, fileName: wish.fileName };
    return {
      result: await untilThere(() => downloadFile(bucket, named, options), patience),
      error: undefined,
    };
  } catch (error) {
    if (options.signal?.aborted || !(error instanceof EsignError)) throw error;
    const failed = {
      envelopeId: wish.envelopeId,
      what: wish.what,
      key,
      path: null,
      bytes: null,
      sha256: null,
    };
    return {
      result: { ...failed, status: 'failed', error: { code: error.code, message: messageOf(error) } },
      error,
    };
  }
}
