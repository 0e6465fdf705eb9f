import { type BackOff, backOff } from '../../kernel/back-off.ts';
import { abortReason, type Clock } from '../../kernel/clock.ts';
import { codeOf, EsignError, messageOf, StorageError } from '../../kernel/errors.ts';
import type { Bucket } from '../bucket/bucket.ts';
import { isProvable, isStrong, type ObjectFacts, type OpenedObject } from '../bucket/object.ts';
import { corrupt, type FileHash } from './digest.ts';

/** The destination for the bytes of an object. */
export interface Sink {
  readonly length: number;
  /** The object whose first bytes an earlier run left, if any. */
  readonly known?: ObjectFacts | undefined;
  /** Called before the first byte, and after each restart. */
  begin(facts: ObjectFacts): Promise<void> | void;
  write(chunk: Uint8Array): Promise<void> | void;
  /** Compares all bytes with the object. @throws StorageError STORAGE_CORRUPT */
  verify(): FileHash;
  /** Discards all bytes. A stream can't. */
  restart?(): void;
}

export interface TransferOptions {
  clock: Clock;
  signal?: AbortSignal | undefined;
  /** The object, if it is already open at its start. */
  opened?: OpenedObject | undefined;
  progress?: TransferProgress | undefined;
}

/** The progress of transfers, which each of them adds to: objects with known length, their total length, and received bytes. */
export interface TransferProgress {
  begun: number;
  expected: number;
  bytes: number;
}

/** Adds an object of this size, and received bytes; both are negative for bytes that were discarded. */
function addProgress(progress: TransferProgress | undefined, size: number, received: number): void {
  if (progress === undefined) return;
  progress.begun += Math.sign(size);
  progress.expected += size;
  progress.bytes += received;
}

/** The maximum number of consecutive attempts without a new byte. */
const MAX_FAILURES = 5;
const MAX_RESTARTS = 3;
const RETRY_DELAY: BackOff = { firstMs: 200, longestMs: 5_000 };

/**
 * Writes a whole object to the sink, over as many connections as needed, and verifies it. After a drop or a stall, continues at the next byte
 * if the object is the same, and starts over if it has changed. If a resumed object fails verification, starts over once. The SDK retries
 * requests, but never a body.
 */
export async function transfer(
  bucket: Bucket,
  key: string,
  sink: Sink,
  options: TransferOptions,
): Promise<{ facts: ObjectFacts; hash: FileHash }> {
  const { facts, resumed } = await new Transfer(bucket, key, sink, options).run();
  try {
    return { facts, hash: sink.verify() };
  } catch (error) {
    if (!resumed || sink.restart === undefined || codeOf(error) !== 'STORAGE_CORRUPT') throw error;
    addProgress(options.progress, -(facts.size ?? 0), -sink.length);
    sink.restart();
    const again = await new Transfer(bucket, key, sink, { ...options, opened: undefined }).run();
    return { facts: again.facts, hash: sink.verify() };
  }
}

class Transfer {
  readonly #bucket: Bucket;
  readonly #key: string;
  readonly #sink: Sink;
  readonly #options: TransferOptions;
  /** The object whose bytes the sink has. */
  #facts: ObjectFacts | undefined;
  #resumed: boolean;
  #failures = 0;
  #restarts = 0;

  constructor(bucket: Bucket, key: string, sink: Sink, options: TransferOptions) {
    this.#bucket = bucket;
    this.#key = key;
    this.#sink = sink;
    this.#options = options;
    this.#facts = sink.known;
    this.#resumed = sink.known !== undefined;
  }

  /** `resumed` is false if the object came over one connection. */
  async run(): Promise<{ facts: ObjectFacts; resumed: boolean }> {
    const { clock, signal } = this.#options;
    let { opened } = this.#options;
    if (this.#facts !== undefined) {
      opened?.cancel();
      opened = undefined;
      addProgress(this.#options.progress, this.#facts.size ?? 0, this.#sink.length);
    }
    for (; ; opened = undefined) {
      const before = this.#sink.length;
      try {
        if (await this.#attempt(opened)) break;
      } catch (error) {
        this.#failures = this.#sink.length > before ? 0 : this.#failures + 1;
        this.#throwIfFinal(error);
        this.#resumed = true;
        await clock.sleep(backOff(this.#failures, RETRY_DELAY), signal);
      }
    }
    if (this.#facts === undefined) throw corrupt(this.#key, 'the bucket sent no metadata for it');
    return { facts: this.#facts, resumed: this.#resumed };
  }

  /** Transfers over one connection. Returns true if the sink has the whole object, false to start over. */
  async #attempt(opened: OpenedObject | undefined): Promise<boolean> {
    const sink = this.#sink;
    if (this.#facts?.size !== undefined && sink.length === this.#facts.size) return true;
    const object = opened ?? (await this.#openNext());
    if (object === undefined || !this.#continues(object)) {
      object?.cancel();
      await this.#startOver(object !== undefined && this.#isSame(object));
      return false;
    }
    if (this.#facts === undefined) {
      refuseUnproven(object, this.#key);
      this.#facts = object.facts;
      addProgress(this.#options.progress, object.facts.size ?? 0, 0);
      await sink.begin(object.facts);
    }
    const { size } = this.#facts;
    for await (const chunk of object.body) {
      if (size !== undefined && sink.length + chunk.byteLength > size)
        throw corrupt(this.#key, `more than its ${size} bytes arrived`);
      await sink.write(chunk);
      addProgress(this.#options.progress, 0, chunk.byteLength);
    }
    if (size !== undefined && sink.length < size) throw new Error('the connection was closed early');
    return true;
  }

  /** Opens the object at the next byte. */
  async #openNext(): Promise<OpenedObject | undefined> {
    const from = this.#sink.length;
    const etag = this.#facts?.etag;
    const resume = from > 0 && isStrong(etag) ? { from, ifMatch: etag } : {};
    const answer = await this.#bucket.open(this.#key, { ...resume, signal: this.#options.signal });
    return answer.kind === 'object' ? answer : undefined;
  }

  /** Returns true if these bytes follow the sink's bytes in the same object. */
  #continues(object: OpenedObject): boolean {
    return object.from === this.#sink.length && (this.#facts === undefined || this.#isSame(object));
  }

  #isSame({ facts }: OpenedObject): boolean {
    return this.#facts?.etag === facts.etag && this.#facts?.size === facts.size;
  }

  /** Throws if retrying is useless. A transfer can resume after a broken connection, but not after a refused request. */
  #throwIfFinal(error: unknown): void {
    const { signal } = this.#options;
    if (signal?.aborted) throw abortReason(signal);
    const isRefused = error instanceof EsignError && error.code !== 'STORAGE_UNREACHABLE';
    // Before the first response, the SDK has already retried.
    const wasRetried = error instanceof EsignError && this.#facts === undefined;
    if (isRefused || wasRetried || this.#restarts > MAX_RESTARTS) throw error;
    if (this.#failures < MAX_FAILURES) return;
    const why = messageOf(error).replace(/\.$/, '');
    throw new StorageError(
      'STORAGE_UNREACHABLE',
      `The download of ${this.#key} stopped after ${this.#sink.length} bytes: ${why}.`,
      { cause: error, hint: 'Run the command again: it continues where it stopped.' },
    );
  }

  /**
   * Discards the sink's bytes. `unresumed`: the object is the same, but the bucket sends it from the first byte, as servers without Range do.
   */
  async #startOver(unresumed: boolean): Promise<void> {
    if (++this.#restarts > MAX_RESTARTS && unresumed)
      throw new StorageError(
        'STORAGE_UNREACHABLE',
        `The download of ${this.#key} stopped ${MAX_RESTARTS + 1} times, and the bucket doesn't support resuming it.`,
        { hint: 'Try again with a better connection.' },
      );
    if (this.#restarts > MAX_RESTARTS)
      throw corrupt(
        this.#key,
        'it kept changing during the download, or the bucket returns different metadata each time',
      );
    addProgress(this.#options.progress, -(this.#facts?.size ?? 0), -this.#sink.length);
    if (this.#sink.restart === undefined && this.#sink.length > 0)
      throw corrupt(this.#key, 'it changed during the download, after its first bytes were written');
    this.#sink.restart?.();
    this.#facts = undefined;
    this.#resumed = true;
  }
}

/** Throws if the response can't prove the object. Every bucket response has an ETag, and a length or a checksum. */
function refuseUnproven({ facts, cancel }: OpenedObject, key: string): void {
  const { etag, size } = facts;
  if (etag !== undefined && (size !== undefined || isProvable(facts))) return;
  cancel();
  if (etag === undefined)
    throw corrupt(
      key,
      'it has no ETag, so the response probably comes from a proxy or a login page, not from a bucket',
    );
  throw corrupt(key, 'the bucket did not return its size');
}
