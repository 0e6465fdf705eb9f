import { abortReason, type Clock } from '../../kernel/clock.ts';
import { EsignError, messageOf, StorageError } from '../../kernel/errors.ts';
import type { Bucket, OpenedObject } from '../bucket/bucket.ts';
import { isProvable, isStrong, type ObjectFacts } from '../bucket/object-facts.ts';
import { corrupt } from './digest.ts';

/** Where the bytes of an object go. */
export interface Sink {
  /** How many bytes of the object it has. */
  readonly length: number;
  /** Told of the object before its first byte, once and after each restart. */
  begin(facts: ObjectFacts): Promise<void> | void;
  write(chunk: Uint8Array): Promise<void> | void;
  /** Forgets all bytes. Throws where that is impossible. */
  restart(): Promise<void> | void;
}

export interface TransferOptions {
  clock: Clock;
  signal?: AbortSignal | undefined;
  /** The object whose bytes the sink has already. */
  known?: ObjectFacts | undefined;
  /** The object opened beforehand, from its start. */
  opened?: OpenedObject | undefined;
  watch?: TransferWatch | undefined;
}

/** Is told how a transfer goes. */
export interface TransferWatch {
  /** How long the object is. */
  expect(bytes: number): void;
  /** Bytes that came; negative for those that no longer count. */
  arrive(bytes: number): void;
}

/** The object that came, and whether it came in one piece. */
export interface Transferred {
  facts: ObjectFacts;
  resumed: boolean;
}

/** Attempts in a row that bring no byte. */
const FRUITLESS = 5;
const RESTARTS = 3;
const PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Brings a whole object into the sink, over as many connections as that takes: after a drop or a stall it goes on
 * at the byte it has, as long as the object is still the same one; when it is another one, from the start.
 * The SDK tries a request again, but never a body.
 */
export async function transfer(
  bucket: Bucket,
  key: string,
  sink: Sink,
  options: TransferOptions,
): Promise<Transferred> {
  const state: State = {
    facts: options.known,
    resumed: options.known !== undefined,
    fruitless: 0,
    restarts: 0,
  };
  let opened = options.opened;
  for (;;) {
    const before = sink.length;
    try {
      if (await attempt(bucket, key, sink, options, state, opened)) return wholeOf(state, key);
    } catch (error) {
      state.fruitless = sink.length > before ? 0 : state.fruitless + 1;
      judgeFailure(error, key, sink, state, options.signal);
      state.resumed = true;
      await options.clock.sleep(Math.min(PAUSE_MS * 2 ** state.fruitless, LONGEST_PAUSE_MS), options.signal);
    }
    opened = undefined;
  }
}

/** Throws where going on is of no use. A broken connection can be gone on from; what the bucket refused cannot. */
function judgeFailure(
  error: unknown,
  key: string,
  sink: Sink,
  state: State,
  signal: AbortSignal | undefined,
): void {
  if (signal?.aborted) throw abortReason(signal);
  const refused = error instanceof EsignError && error.code !== 'STORAGE_UNREACHABLE';
  // Before the first reply the SDK has tried again already.
  if (refused || (error instanceof EsignError && state.facts === undefined)) throw error;
  if (state.fruitless < FRUITLESS) return;
  const why = messageOf(error).replace(/\.$/, '');
  throw new StorageError(
    'STORAGE_UNREACHABLE',
    `The download of ${key} broke off after ${sink.length} bytes: ${why}.`,
    { cause: error, hint: 'Run the command again; it goes on where it broke off.' },
  );
}

interface State {
  facts: ObjectFacts | undefined;
  resumed: boolean;
  fruitless: number;
  restarts: number;
}

/** One connection. True when the sink has the whole object; false when it is to be started again. */
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
    await startOver(key, sink, options, state);
    return false;
  }
  if (state.facts === undefined) {
    refuseUnlikely(object, key);
    state.facts = object.facts;
    options.watch?.expect(object.facts.size ?? 0);
    await sink.begin(object.facts);
  }
  for await (const chunk of object.body) {
    const { size } = state.facts;
    if (size !== undefined && sink.length + chunk.byteLength > size)
      throw corrupt(key, `more than its ${size} bytes arrived`);
    await sink.write(chunk);
    options.watch?.arrive(chunk.byteLength);
  }
  const { size } = state.facts;
  if (size !== undefined && sink.length < size) throw new Error('the connection ended early');
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

/** True when these bytes go on where the sink ends, in the same object. */
function continues(object: OpenedObject, sink: Sink, { facts }: State): boolean {
  if (object.from !== sink.length) return false;
  return facts === undefined || (facts.etag === object.facts.etag && facts.size === object.facts.size);
}

async function startOver(key: string, sink: Sink, options: TransferOptions, state: State): Promise<void> {
  if (++state.restarts > RESTARTS)
    throw corrupt(key, 'it kept changing while it was fetched, or the bucket does not say the same twice');
  options.watch?.arrive(-sink.length);
  options.watch?.expect(-(state.facts?.size ?? 0));
  await sink.restart();
  state.facts = undefined;
  state.resumed = true;
}

function wholeOf({ facts, resumed }: State, key: string): Transferred {
  if (facts === undefined) throw corrupt(key, 'the bucket said nothing of it');
  return { facts, resumed };
}

/** Every reply of a bucket has an ETag, and says how long the object is or what proves it. */
function refuseUnlikely({ facts, cancel }: OpenedObject, key: string): void {
  const { etag, size } = facts;
  if (etag !== undefined && (size !== undefined || isProvable(facts))) return;
  cancel();
  if (etag === undefined)
    throw corrupt(key, 'it has no ETag; a login page or a proxy answers like this, not a bucket');
  throw corrupt(key, 'the bucket did not say how long it is');
}
