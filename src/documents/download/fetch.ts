import type { Client } from '../../api/client.ts';
import type { Envelope } from '../../api/schemas.ts';
import type { Clock, TimeLimit } from '../../kernel/clock.ts';
import { EsignError, messageOf, StorageError } from '../../kernel/errors.ts';
import { mapAhead } from '../../kernel/streams.ts';
import { type DocumentKind, isTerminal } from '../../kernel/vocabulary.ts';
import type { Bucket } from '../bucket/bucket.ts';
import { isBucketMissing } from '../bucket/errors.ts';
import { LOOKUP_INTERVAL_MS, SIGNING_INTERVAL_MS } from '../defaults.ts';
import type { DownloadSeals, SealedFile, SealSource } from '../seal/download-seals.ts';
import type { JudgedSeal } from '../seal/judge.ts';
import { type DownloadOptions, downloadFile, type FileResult } from './file.ts';
import { type DocumentFile, type FileTarget, fileOf, keyOf } from './targets.ts';
import { streamObject } from './to-stream.ts';

/** Options for waiting for files that don't exist yet. */
export interface LocateOptions {
  /** Returns the client that reads envelopes. It isn't needed, and doesn't have to be configured, for bare keys. */
  client(): Promise<Client>;
  /** How long to wait for all files. */
  limit: TimeLimit;
  /** Whether to wait for the signers of an open envelope, too. */
  untilSigned?: boolean;
  clock: Clock;
  signal?: AbortSignal;
  onWait?: (reason: string) => void;
}

export interface FetchOptions extends DownloadOptions {
  waiting: LocateOptions;
  concurrency: number;
  /** Where the documents come from. */
  sealSource: SealSource;
}

interface FetchedFile extends SealedFile {
  result: FileResult;
  error: EsignError | undefined;
}

/** The result for a target, with the result of its seal check. */
export interface CheckedFile extends Pick<FetchedFile, 'result' | 'error'> {
  seal: JudgedSeal | null;
  problem: { code: string; message: string } | null;
}

/**
 * Downloads files and checks their seals. Yields the results in the order of the targets; a failure is a result that contains the error. As
 * long as no seal is pinned, the first document of an envelope is held until the second is downloaded, because together they may pin the
 * seal.
 */
export async function* fetchFiles(
  bucket: Bucket,
  targets: readonly FileTarget[],
  options: FetchOptions,
): AsyncGenerator<CheckedFile, void, undefined> {
  let check: DownloadSeals | undefined;
  let held: FetchedFile[] = [];
  const released = () => {
    const files = held;
    held = [];
    return files.map((file) => ({ ...file, ...(check?.judge(file) ?? { seal: null, problem: null }) }));
  };
  try {
    for await (const file of mapAhead(targets, options.concurrency, (one) =>
      fetchFile(bucket, one, options),
    )) {
      if (held.some(({ result }) => result.envelopeId !== file.result.envelopeId)) yield* released();
      held.push(file);
      // The code that checks seals is loaded on first use.
      if (file.error === undefined)
        check ??= await (await import('../seal/download-seals.ts')).DownloadSeals.open(options.sealSource);
      if (!(await check?.pinFrom(held))) yield* released();
    }
  } catch (error) {
    yield* released();
    throw error;
  }
  yield* released();
}

async function fetchFile(bucket: Bucket, target: FileTarget, options: FetchOptions): Promise<FetchedFile> {
  let { key } = target;
  try {
    const file = await locate(target, options.waiting);
    key = file.key;
    const download = () => downloadFile(bucket, file, options);
    const { result, seal } = await waitUntilAvailable(download, options.waiting);
    return { result, status: file.status, seal, error: undefined };
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

/** Streams one file, such as to stdout. Returns true if only its size was compared with the bucket. */
export async function fetchToStream(
  bucket: Bucket,
  target: FileTarget,
  write: (chunk: Uint8Array) => Promise<void>,
  waiting: LocateOptions,
): Promise<{ isProvenBySize: boolean }> {
  const file = await locate(target, waiting);
  return waitUntilAvailable(() => streamObject(bucket, file.key, write, waiting), waiting);
}

/**
 * Returns the file of a target. Reads its envelope if the key is not known. If a completed envelope has no key yet, reads it again
 * until it has one or the waiting time is over.
 * @throws EsignError if the envelope can't be read, or has no such document.
 */
export async function locate(target: FileTarget, waiting: LocateOptions): Promise<DocumentFile> {
  const { envelopeId, what, key, fileName, nameOf, status, error } = target;
  if (error !== undefined) throw error;
  if (key !== null && fileName !== null) return { envelopeId, what, key, fileName, status };
  if (envelopeId === null || what === null) throw new TypeError('a target without a key needs an envelope');
  const client = await waiting.client();
  for (;;) {
    const envelope = await client.envelopes.get(envelopeId, waiting.signal);
    const intervalMs = intervalOf(envelope, what, waiting);
    if (keyOf(envelope, what) !== undefined || intervalMs === undefined || waiting.limit.left() === 0) {
      const file = fileOf(envelope, what);
      return { ...file, fileName: nameOf?.(envelope) ?? fileName ?? file.fileName };
    }
    waiting.onWait?.(`The ${what} file for ${envelopeId} has no storage key yet. Waiting for it.`);
    await waiting.clock.sleep(intervalMs, waiting.signal);
  }
}

/** Retries while the object doesn't exist, until the waiting time is over. */
export async function waitUntilAvailable<T>(fetch: () => Promise<T>, waiting: LocateOptions): Promise<T> {
  for (;;) {
    try {
      return await fetch();
    } catch (error) {
      const isMissing =
        error instanceof StorageError && error.code === 'STORAGE_NOT_FOUND' && !isBucketMissing(error);
      if (!isMissing || waiting.limit.left() === 0) throw error;
      waiting.onWait?.(`${error.message} Waiting for it.`);
      await waiting.clock.sleep(LOOKUP_INTERVAL_MS, waiting.signal);
    }
  }
}

/** Returns how often to read an envelope until it has the key of a document, or undefined if the key isn't expected. */
function intervalOf(
  { status }: Envelope,
  what: DocumentKind,
  { untilSigned }: LocateOptions,
): number | undefined {
  if (what === 'document' || status === 'COMPLETED') return LOOKUP_INTERVAL_MS;
  return untilSigned && !isTerminal(status ?? '') ? SIGNING_INTERVAL_MS : undefined;
}
