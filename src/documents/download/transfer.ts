import { type BackOff, backOff } from '../../kernel/back-off.ts';
import { abortReason, type Clock } from '../../kernel/clock.ts';
import { EsignError, messageOf, StorageError } from '../../kernel/errors.ts';
import type { Bucket } from '../bucket/bucket.ts';
import { isProvable, isStrong, type ObjectFacts, type OpenedObject } from '../bucket/object.ts';
import { corrupt } from './digest.ts';

/** The destination for the bytes of an object. */
export interface Sink {
  /** The number of bytes received so far. */
  readonly length: number;
  /** Called before the first byte, and after each restart. */
  begin(facts: ObjectFacts): Promise<void> | void;
  write(chunk: Uint8Array): Promise<void> | void;
  /** Discards all bytes. Throws if that is impossible. */
  restart(): Promise<void> | void;
}

export interface TransferOptions {
  clock: Clock;
  signal?: AbortSignal | undefined;
  /** The object whose bytes the sink already has. */
  known?: ObjectFacts | undefined;
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
export function addProgress(progress: TransferProgress | undefined, size: number, received: number): void {
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
 * Writes a whole object to the sink, over as many connections as needed. After a drop or a stall, continues at the next byte if the object
 * is the same, and starts over if it has changed. The SDK retries requests, but never a body. `resumed` is false if the object came over
 * one connection.
 */
export async function transfer(
  bucket: Bucket,
  key: string,
  sink: Sink,
  options: TransferOptions,
): Promise<{ facts: ObjectFacts; resumed: boolean }> {
  const state: State = {
    facts: options.known,
    resumed: options.known !== undefined,
    failures: 0,
    restarts: 0,
  };
  let opened = options.opened;
  for (;;) {
    const before = sink.length;
    try {
      if (await attempt(bucket, key, sink, options, state, opened)) return wholeOf(state, key);
    } catch (error) {
      state.failures = sink.length > before ? 0 : state.failures + 1;
      throwIfFinal(error, key, sink, state, options.signal);
      state.resumed = true;
      await options.clock.sleep(backOff(state.failures, RETRY_DELAY), options.signal);
    }
    opened = undefined;
  }
}

/** Throws if retrying is useless. A transfer can resume after a broken connection, but not after a refused request. */
function throwIfFinal(
  error: unknown,
  key: string,
  sink: Sink,
  state: State,
  signal: AbortSignal | undefined,
): void {
  if (signal?.aborted) throw abortReason(signal);
  const isRefused = error instanceof EsignError && error.code !== 'STORAGE_UNREACHABLE';
  // Before the first response, the SDK has already retried.
  const wasRetried = error instanceof EsignError && state.facts === undefined;
  if (isRefused || wasRetried || state.restarts > MAX_RESTARTS) throw error;
  if (state.failures < MAX_FAILURES) return;
  const why = messageOf(error).replace(/\.$/, '');
  throw new StorageError(
    'STORAGE_UNREACHABLE',
    `The download of ${key} stopped after ${sink.length} bytes: ${why}.`,
    { cause: error, hint: 'Run the command again: it continues where it stopped.' },
  );
}

interface State {
  facts: ObjectFacts | undefined;
  resumed: boolean;
  failures: number;
  restarts: number;
}

/** Transfers over one connection. Returns true if the sink has the whole object, false to start over. */
async function attempt(
  bucket: Bucket,
  key: string,
  sink: Sink,
  options: TransferOptions,
  state: State,
  given: OpenedObject | undefined,
): Promise<boolean> {
  if (state.facts?.size !== undefined && sink.length === state.facts.size) return true;
  const object = given ?? (await openAt(bucket, key, sink, options.signal, state));
  if (object === undefined || !continues(object, sink, state)) {
    object?.cancel();
    await startOver(key, sink, options, state, object !== undefined && isSame(object, state));
    return false;
  }
  if (state.facts === undefined) {
    refuseUnproven(object, key);
    state.facts = object.facts;
    addProgress(options.progress, object.facts.size ?? 0, 0);
    await sink.begin(object.facts);
  }
  for await (const chunk of object.body) {
    const { size } = state.facts;
    if (size !== undefined && sink.length + chunk.byteLength > size)
      throw corrupt(key, `more than its ${size} bytes arrived`);
    await sink.write(chunk);
    addProgress(options.progress, 0, chunk.byteLength);
  }
  const { size } = state.facts;
  if (size !== undefined && sink.length < size) throw new Error('the connection was closed early');
  return true;
}

async function openAt(
  bucket: Bucket,
  key: string,
  sink: Sink,
  signal: AbortSignal | undefined,
  state: State,
): Promise<OpenedObject | undefined> {
  const etag = state.facts?.etag;
  const resume = sink.length > 0 && isStrong(etag) ? { from: sink.length, ifMatch: etag } : {};
  const answer = await bucket.open(key, { ...resume, signal });
  return answer.kind === 'object' ? answer : undefined;
}

/** Returns true if these bytes follow the sink's bytes in the same object. */
function continues(object: OpenedObject, sink: Sink, { facts }: State): boolean {
  if (object.from !== sink.length) return false;
  return facts === undefined || isSame(object, { facts });
}

function isSame({ facts }: OpenedObject, known: Pick<State, 'facts'>): boolean {
  return known.facts?.etag === facts.etag && known.facts?.size === facts.size;
}

/**
 * Discards the sink's bytes. `unresumed`: the object is the same, but the bucket sends it from the first byte, as servers without Range do.
 */
async function startOver(
  key: string,
  sink: Sink,
  options: TransferOptions,
  state: State,
  unresumed: boolean,
): Promise<void> {
  if (++state.restarts > MAX_RESTARTS && unresumed)
    throw new StorageError(
      'STORAGE_UNREACHABLE',
      `The download of ${key} stopped ${MAX_RESTARTS + 1} times, and the bucket doesn't support resuming it.`,
      { hint: 'Try again with a better connection.' },
    );
  if (state.restarts > MAX_RESTARTS)
    throw corrupt(
      key,
      'it kept changing during the download, or the bucket returns different metadata each time',
    );
  addProgress(options.progress, -(state.facts?.size ?? 0), -sink.length);
  await sink.restart();
  state.facts = undefined;
  state.resumed = true;
}

function wholeOf({ facts, resumed }: State, key: string) {
  if (facts === undefined) throw corrupt(key, 'the bucket sent no metadata for it');
  return { facts, resumed };
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
