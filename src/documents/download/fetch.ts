import type { Client } from '../../api/client.ts';
import type { Envelope } from '../../api/schemas.ts';
import type { Clock } from '../../kernel/clock.ts';
import { EsignError, messageOf, StorageError } from '../../kernel/errors.ts';
import type { Paper } from '../../kernel/vocabulary.ts';
import { localError } from '../archive/local-error.ts';
import type { Bucket } from '../bucket/bucket.ts';
import type { CheckedSeal } from '../seal/seal.ts';
import { type DownloadOptions, downloadFile, type FileResult } from './file.ts';
import { fileOf, keyOf, type WantedFile } from './papers.ts';

/** How a run waits for files that should be there but are not yet. */
export interface Waiting {
  /** When it ends, for all files together, as the clock tells it. */
  until: number;
  clock: Clock;
  signal?: AbortSignal;
  onWait?: (reason: string) => void;
}

const LOOK_EVERY_MS = 1_000;

/**
 * The file of an envelope's paper. A completed envelope whose key is still null is asked for again
 * until the waiting ends; one that is not completed has nothing to wait for. `known` is the envelope
 * as it was seen last, and saves asking when it names the file already.
 */
export async function locatePaper(
  client: Client,
  id: string,
  what: Paper,
  waiting: Waiting,
  known?: Envelope,
): Promise<WantedFile> {
  if (known !== undefined && keyOf(known, what) !== undefined) return fileOf(known, what);
  for (;;) {
    const envelope = await client.envelopes.get(id, waiting.signal);
    const soon = what === 'document' || envelope.status === 'COMPLETED';
    if (keyOf(envelope, what) !== undefined || !soon || waiting.clock.now() >= waiting.until)
      return fileOf(envelope, what);
    waiting.onWait?.(`The service has not named the ${what} file of ${id} yet; waiting.`);
    await waiting.clock.sleep(LOOK_EVERY_MS, waiting.signal);
  }
}

/** Runs a fetch again while the object is not there yet and the waiting lasts. */
export async function untilThere<T>(fetch: () => Promise<T>, waiting: Waiting): Promise<T> {
  for (;;) {
    try {
      return await fetch();
    } catch (error) {
      const missing = error instanceof StorageError && error.code === 'STORAGE_NOT_FOUND';
      if (!missing || waiting.clock.now() >= waiting.until) throw error;
      waiting.onWait?.(`${error.message} Waiting for it.`);
      await waiting.clock.sleep(LOOK_EVERY_MS, waiting.signal);
    }
  }
}

/** One file to fetch, however its key is found. */
export interface FileTarget {
  envelopeId: string | null;
  what: Paper | null;
  /** The key, where it is known beforehand. */
  key: string | null;
  /** The name it gets in the folder; null when it can't be named, and then `locate` says why. */
  fileName: string | null;
  locate: () => Promise<WantedFile>;
}

/** Where a target comes from, in words. */
export function sourceOf(target: FileTarget): string {
  return target.key ?? `the ${target.what ?? ''} file of ${target.envelopeId ?? ''}`;
}

/** What came of a target. */
export interface Fetched {
  result: FileResult;
  /** Of a PDF, checked as it was written: what it is worth says who knows the signers. Null without one. */
  seal: CheckedSeal | null;
  error: EsignError | undefined;
}

/** A result for each target; a failure is a result, too, and carries its error. */
export async function fetchFile(
  bucket: Bucket,
  target: FileTarget,
  options: DownloadOptions,
  waiting: Waiting,
): Promise<Fetched> {
  let { key } = target;
  try {
    const wanted = await target.locate();
    key = wanted.key;
    const named = target.fileName === null ? wanted : { ...wanted, fileName: target.fileName };
    const result = await untilThere(() => downloadFile(bucket, named, options), waiting);
    return { result, seal: await sealIn(result.path), error: undefined };
  } catch (error) {
    if (options.signal?.aborted || !(error instanceof EsignError)) throw error;
    const failed = {
      envelopeId: target.envelopeId,
      what: target.what,
      key,
      path: null,
      bytes: null,
      sha256: null,
    };
    return {
      result: { ...failed, status: 'failed', error: { code: error.code, message: messageOf(error) } },
      seal: null,
      error,
    };
  }
}

/** What checks it is loaded for the first PDF. */
async function sealIn(path: string | null): Promise<CheckedSeal | null> {
  if (path === null || !/\.pdf$/i.test(path)) return null;
  const { checkSeal } = await import('../seal/seal.ts');
  return checkSeal(path).catch((error: unknown) => {
    throw localError(error, path);
  });
}
