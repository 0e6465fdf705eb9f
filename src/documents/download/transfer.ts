import { type BackOff, backOff } from '../../kernel/async/back-off.ts';
import { abortReason, type Clock } from '../../kernel/clock.ts';
import { EsignError, messageOf, StorageError } from '../../kernel/errors.ts';
import type { Bucket } from '../bucket/bucket.ts';
import {
  hasContentHash,
  isStrongEtag,
  type ObjectMetadata,
  type OpenedObject,
} from '../bucket/object-headers.ts';
import { corruptFileError, DownloadDigest, type FileHash } from './digest.ts';

/** The destination for the bytes of an object. */
export interface Sink {
  readonly length: number;
  write(chunk: Uint8Array): Promise<void> | void;
  /** Discards all bytes. A stream can't. */
  restart?(): void;
}

/** An object, and the digest of its first bytes, which are in the sink. */
export interface StartedDownload {
  facts: ObjectMetadata;
  digest: DownloadDigest;
}

export interface TransferOptions {
  clock: Clock;
  signal?: AbortSignal | undefined;
  /** The object whose first bytes an earlier run left in the sink. */
  begun?: StartedDownload | undefined;
  progress?: TransferProgress | undefined;
}

/** The progress of transfers, which each of them adds to. */
export interface TransferProgress {
  /** The number of bytes received. */
  bytes: number;
}

/** The maximum number of consecutive attempts without a new byte. */
const MAX_FAILURES = 5;
const MAX_RESTARTS = 3;
const RETRY_DELAY: BackOff = { firstMs: 200, longestMs: 5_000 };

/** A whole object. */
export interface Transferred {
  facts: ObjectMetadata;
  hash: FileHash;
}

/**
 * Writes a whole object to the sink, over as many connections as needed, and hashes it. After a drop or a stall, continues at the next byte
 * if the object is the same, and starts over if it has changed.
 * @throws StorageError STORAGE_CORRUPT if the bytes can't be the object's.
 */
export async function transfer(
  bucket: Bucket,
  key: string,
  sink: Sink,
  options: TransferOptions,
): Promise<Transferred> {
  const run = new Transfer(bucket, key, sink, options);
  for (;;) {
    const before = sink.length;
    try {
      const transferred = await run.attempt();
      if (transferred !== undefined) return transferred;
    } catch (error) {
      await run.recover(error, before);
    }
  }
}

class Transfer {
  readonly #bucket: Bucket;
  readonly #key: string;
  readonly #sink: Sink;
  readonly #options: TransferOptions;
  readonly #progress: TransferProgress;
  /** The object whose bytes the sink has. */
  #begun: StartedDownload | undefined;
  /** Whether the bytes came over more than one connection, so that they may be of two objects with the same ETag. */
  #isJoined: boolean;
  #failures = 0;
  #restarts = 0;

  constructor(bucket: Bucket, key: string, sink: Sink, options: TransferOptions) {
    this.#bucket = bucket;
    this.#key = key;
    this.#sink = sink;
    this.#options = options;
    this.#begun = options.begun;
    this.#isJoined = options.begun !== undefined;
    this.#progress = options.progress ?? { bytes: 0 };
    if (options.begun) this.#progress.bytes += sink.length;
  }

  /** Transfers over one connection. Returns the object once the sink has all of it, and undefined to start over. */
  async attempt(): Promise<Transferred | undefined> {
    const { length } = this.#sink;
    if (this.#begun === undefined || this.#begun.facts.size !== length) {
      const facts = this.#begun?.facts;
      const object = await this.#openNext(facts);
      if (object === undefined || !isContinuation(object, length, facts)) {
        object?.cancel();
        this.#startOver(keepsChanging(this.#key));
        return undefined;
      }
      await this.#receive(object, this.#begin(object));
    }
    const begun = this.#begun;
    if (begun === undefined) return undefined;
    return { facts: begun.facts, hash: await begun.digest.result() };
  }

  /** Opens the object at the next byte. Returns undefined if it has changed. */
  #openNext(facts: ObjectMetadata | undefined): Promise<OpenedObject | undefined> {
    const from = this.#sink.length;
    const condition = from > 0 && isStrongEtag(facts?.etag) ? { from, ifMatch: facts.etag } : {};
    return this.#bucket.open(this.#key, { ...condition, signal: this.#options.signal });
  }

  #begin(object: OpenedObject): StartedDownload {
    if (this.#begun !== undefined) return this.#begun;
    refuseUnproven(object, this.#key);
    this.#begun = { facts: object.facts, digest: new DownloadDigest(this.#key, object.facts) };
    return this.#begun;
  }

  /** Writes and hashes the bytes that arrive over one connection. @throws if it breaks before the end. */
  async #receive(object: OpenedObject, { facts: { size }, digest }: StartedDownload): Promise<void> {
    for await (const chunk of object.body) {
      digest.update(chunk);
      await this.#sink.write(chunk);
      this.#progress.bytes += chunk.byteLength;
    }
    if (size !== undefined && this.#sink.length < size) throw new Error('the connection was closed early');
  }

  /** Prepares another attempt after an error. `before`: the length of the sink before the last one. @throws if retrying is useless. */
  async recover(error: unknown, before: number): Promise<void> {
    const { clock, signal } = this.#options;
    if (signal?.aborted) throw abortReason(signal);
    if (error instanceof StorageError && error.code === 'STORAGE_CORRUPT' && this.#isJoined)
      return this.#startOver(error);
    const isUnreachable = !(error instanceof EsignError) || error.code === 'STORAGE_UNREACHABLE';
    // Before the first response, the request has already been sent several times.
    const wasRetried = error instanceof EsignError && this.#begun === undefined;
    if (!isUnreachable || wasRetried || this.#restarts > MAX_RESTARTS) throw error;
    this.#isJoined = true;
    this.#failures = this.#sink.length > before ? 0 : this.#failures + 1;
    if (this.#failures >= MAX_FAILURES) throw stoppedError(this.#key, this.#sink.length, error);
    await clock.sleep(backOff(this.#failures, RETRY_DELAY), signal);
  }

  /** Discards the bytes in the sink. @throws the error after several times, or if the sink can't discard them. */
  #startOver(error: StorageError): void {
    if (this.#sink.restart === undefined && this.#sink.length > 0)
      throw corruptFileError(this.#key, 'it changed during the download, after its first bytes were written');
    if (++this.#restarts > MAX_RESTARTS) throw error;
    this.#progress.bytes -= this.#sink.length;
    this.#sink.restart?.();
    this.#begun = undefined;
    this.#isJoined = false;
  }
}

/** Returns true if these bytes follow the first ones of the same object. */
function isContinuation(object: OpenedObject, length: number, facts: ObjectMetadata | undefined): boolean {
  const { etag, size } = object.facts;
  return object.from === length && (facts === undefined || (etag === facts.etag && size === facts.size));
}

/** Throws if the response can't prove the object. Every bucket response has an ETag, and a length or a checksum. */
function refuseUnproven({ facts, cancel }: OpenedObject, key: string): void {
  const { etag, size } = facts;
  if (etag !== undefined && (size !== undefined || hasContentHash(facts))) return;
  cancel();
  if (etag === undefined)
    throw corruptFileError(
      key,
      'it has no ETag, so the response probably comes from a proxy or a login page, not from a bucket',
    );
  throw corruptFileError(key, 'the bucket did not return its size');
}

/** Returns the error for bytes that aren't those of the object's ETag. */
export function etagMismatchError(key: string): StorageError {
  return corruptFileError(key, 'its checksum (ETag) does not match');
}

function keepsChanging(key: string): StorageError {
  return corruptFileError(
    key,
    'it kept changing during the download, or the bucket does not support resuming a download',
  );
}

function stoppedError(key: string, bytes: number, error: unknown): StorageError {
  const why = messageOf(error).replace(/\.$/, '');
  return new StorageError(
    'STORAGE_UNREACHABLE',
    `The download of ${key} stopped after ${bytes} bytes: ${why}.`,
    {
      cause: error,
      hint: 'Run the command again: it continues where it stopped.',
    },
  );
}
