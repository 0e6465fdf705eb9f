import { EsignError, messageOf, StorageError } from '../../kernel/errors.ts';
import type { DocumentKind } from '../../kernel/vocabulary.ts';
import type { Bucket } from '../bucket/bucket.ts';
import { LOOKUP_INTERVAL_MS } from '../defaults.ts';
import type { CheckedSeal } from '../seal/seal.ts';
import { type DownloadOptions, downloadFile, type FileResult } from './file.ts';
import type { DocumentFile, LocateOptions } from './locate.ts';

/** A file to download. */
export interface FileTarget {
  envelopeId: string | null;
  what: DocumentKind | null;
  /** The storage key, if it is known in advance. */
  key: string | null;
  /** The file's name in the folder; null if it can't be determined, in which case `locate` throws the reason. */
  fileName: string | null;
  locate: () => Promise<DocumentFile>;
}

/** Returns where a target comes from, for messages. */
export function sourceOf(target: FileTarget): string {
  return target.key ?? `the ${target.what ?? ''} file of ${target.envelopeId ?? ''}`;
}

/** The result for a target. */
export interface FetchedFile {
  result: FileResult;
  /** The status as in `DocumentFile`. */
  status: string | null;
  /** The checked but not yet judged seal of a PDF; null for any other file. */
  seal: CheckedSeal | null;
  error: EsignError | undefined;
}

/** Retries while the object doesn't exist, until the waiting time is over. */
export async function waitUntilAvailable<T>(fetch: () => Promise<T>, waiting: LocateOptions): Promise<T> {
  for (;;) {
    try {
      return await fetch();
    } catch (error) {
      const isMissing = error instanceof StorageError && error.code === 'STORAGE_NOT_FOUND';
      if (!isMissing || waiting.clock.now() >= waiting.until) throw error;
      waiting.onWait?.(`${error.message} Waiting for it.`);
      await waiting.clock.sleep(LOOKUP_INTERVAL_MS, waiting.signal);
    }
  }
}

/** Downloads a target. A failure is returned as a result that contains the error. */
export async function fetchFile(
  bucket: Bucket,
  target: FileTarget,
  options: DownloadOptions,
  waiting: LocateOptions,
): Promise<FetchedFile> {
  let { key } = target;
  try {
    const located = await target.locate();
    key = located.key;
    const file = { ...located, fileName: target.fileName ?? located.fileName };
    const { result, seal } = await waitUntilAvailable(() => downloadFile(bucket, file, options), waiting);
    return { result, status: located.status, seal, error: undefined };
  } catch (error) {
    if (options.signal?.aborted || !(error instanceof EsignError)) throw error;
    const { envelopeId, what } = target;
    const result: FileResult = {
      envelopeId,
      what,
      key,
      path: null,
      bytes: null,
      sha256: null,
      status: 'failed',
      error: { code: error.code, message: messageOf(error) },
    };
    return { result, status: null, seal: null, error };
  }
}
