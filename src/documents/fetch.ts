import type { Client } from '../api/client.ts';
import type { Clock } from '../kernel/clock.ts';
import { EsignError, messageOf, StorageError } from '../kernel/errors.ts';
import type { Paper } from '../kernel/vocabulary.ts';
import type { Bucket } from './bucket.ts';
import { type DownloadOptions, downloadFile, type FileResult } from './download.ts';
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
 * until the patience ends; one that is not completed has nothing to wait for.
 */
export async function locatePaper(
  client: Client,
  id: string,
  what: Paper,
  patience: Patience,
): Promise<WantedFile> {
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
  locate: () => Promise<WantedFile>;
}

/** A result for each wish; a failure is a result, too, and carries its error. */
export async function fetchFile(
  bucket: Bucket,
  wish: FileWish,
  options: DownloadOptions,
  patience: Patience,
): Promise<{ result: FileResult; error: EsignError | undefined }> {
  try {
    const wanted = await wish.locate();
    return {
      result: await untilThere(() => downloadFile(bucket, wanted, options), patience),
      error: undefined,
    };
  } catch (error) {
    if (options.signal?.aborted || !(error instanceof EsignError)) throw error;
    const failed = {
      envelopeId: wish.envelopeId,
      what: wish.what,
      key: wish.key,
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
