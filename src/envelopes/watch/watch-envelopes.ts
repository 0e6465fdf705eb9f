import type { Client } from '../../api/client.ts';
import { READ_CONCURRENCY } from '../../api/request-defaults.ts';
import type { Envelope } from '../../api/resource-types.ts';
import { TimeLimit } from '../../kernel/clock.ts';
import type { ServiceError } from '../../kernel/errors.ts';
import { isNotFound, isOutage, isRateLimited } from '../../kernel/request-failures.ts';
import { isTerminal, showsSigners } from '../../kernel/statuses.ts';
import { mapInOrder } from '../../kernel/streams.ts';
import { LastSeen, type StatusChange } from './last-seen.ts';
import { PollPace } from './poll-pace.ts';
import { ListPoller, MAX_READ_BY_ID } from './poller.ts';
import { Wakeups } from './wakeups.ts';

export type { StatusChange } from './last-seen.ts';

export type WatchEvent =
  | { type: 'change'; change: StatusChange }
  /** The envelope doesn't exist. The others are still watched. */
  | { type: 'gone'; id: string; error: ServiceError }
  /** The service can't be reached. Polling continues. */
  | { type: 'outage'; error: Error; failures: number }
  | { type: 'recovered' };

export interface WatchOptions {
  /** Statuses to wait for. */
  until: readonly string[];
  intervalMs: number;
  /** The longest pause while nothing changes. Default: the interval. */
  quietMs?: number | undefined;
  /** Yields the IDs of envelopes that have changed. Each is then read immediately. */
  wakeups?: AsyncIterable<string> | undefined;
  random?: () => number;
  signal?: AbortSignal;
}

/** If lists lack signers, this many envelopes are read per poll in turn, because someone may have viewed or signed. */
const RECHECKS = 2;

/**
 * Watches envelopes until each is in an awaited or a final status. Yields each change once, in order. A poll needs one request
 * per envelope or list page, whichever is less. It reports outages and waits until they end; a permanent error such as 401 ends the
 * watch.
 */
export function watchEnvelopes(client: Client, ids: readonly string[], options: WatchOptions): Events {
  return new Watch(client, ids, options).run();
}

/** Returns true if the envelope is in an awaited or a final status. */
export function isOver(envelope: Envelope, until: readonly string[]): boolean {
  const status = envelope.status ?? '';
  return until.includes(status) || isTerminal(status);
}

type Events = AsyncGenerator<WatchEvent, void, undefined>;

class Watch {
  readonly #client: Client;
  readonly #options: WatchOptions;
  readonly #poller: ListPoller;
  readonly #lastSeen = new LastSeen();
  readonly #pace: PollPace;
  readonly #wakeups: Wakeups;
  /** The watched envelopes with their last known statuses, starting with the one whose signers were read longest ago. */
  readonly #open: Map<string, string | undefined>;

  constructor(client: Client, ids: readonly string[], options: WatchOptions) {
    this.#client = client;
    this.#options = options;
    this.#poller = new ListPoller(client);
    this.#pace = new PollPace({ ...options, random: options.random ?? Math.random });
    this.#wakeups = new Wakeups(client.clock, options.wakeups);
    this.#open = new Map(ids.map((id) => [id, undefined]));
  }

  async *run(): Events {
    for (;;) {
      yield* this.#withOutages(this.#poll());
      if (this.#open.size === 0) return;
      const pause = new TimeLimit(this.#client.clock, this.#pace.next());
      do {
        const woken = await this.#wakeups.sleep(pause.left(), this.#options.signal);
        const ids = [...woken].filter((id) => this.#open.has(id));
        // A poll takes fewer requests.
        if (ids.length > MAX_READ_BY_ID) break;
        yield* this.#withOutages(this.#readEach(ids));
        if (this.#open.size === 0) return;
      } while (pause.left() > 0);
    }
  }

  /** Polls all envelopes: lists if they need fewer requests, then by ID those that the lists show too little of. */
  async *#poll(): Events {
    const rest = new Map(this.#open);
    const moved: string[] = [];
    for await (const page of this.#poller.read(rest, this.#options.signal)) {
      yield* this.#recovered();
      for (const item of page)
        if (showsSigners(item) || !this.#lastSeen.hasMoved(item)) yield* this.#take(item.id, item);
        else moved.push(item.id);
    }
    const read = new Set([...moved, ...rest.keys()]);
    yield* this.#readEach([...read]);
    if (!this.#poller.lacksSigners) return;
    const others = [...this.#open.keys()].filter((id) => !read.has(id));
    yield* this.#readEach(others.slice(0, RECHECKS));
  }

  /** Reads each envelope by ID, in this order. */
  async *#readEach(ids: readonly string[]): Events {
    const { client, signal } = { client: this.#client, signal: this.#options.signal };
    const read = async (id: string) => {
      const found = client.envelopes.getListed(id, signal);
      return { id, found: await found.catch((error: unknown) => asMissing(error)) };
    };
    for await (const { id, found } of mapInOrder(ids, READ_CONCURRENCY, read)) {
      yield* this.#recovered();
      if (!(found instanceof Error)) yield* this.#take(id, found);
      else if (this.#open.has(id)) {
        this.#close(id);
        yield { type: 'gone', id, error: found };
      }
    }
  }

  *#take(id: string, envelope: Envelope): Generator<WatchEvent, void, undefined> {
    if (!this.#open.has(id)) return;
    const changes = this.#lastSeen.take(id, envelope, this.#client.serviceClock.now());
    for (const change of changes) yield { type: 'change', change };
    const status = changes.at(-1)?.to;
    if (status !== undefined) this.#pace.moved();
    if (status !== undefined && isOver({ id, status }, this.#options.until)) return this.#close(id);
    const known = status ?? this.#open.get(id);
    // It goes to the end.
    if (showsSigners(envelope)) this.#open.delete(id);
    this.#open.set(id, known);
  }

  #close(id: string): void {
    this.#open.delete(id);
    this.#lastSeen.forget(id);
  }

  *#recovered(): Generator<WatchEvent, void, undefined> {
    if (this.#pace.recordResponse()) yield { type: 'recovered' };
  }

  /** Yields the events of a poll, and an outage at the end if the service can't be reached. */
  async *#withOutages(poll: Events): Events {
    try {
      yield* poll;
    } catch (error) {
      const passes = isOutage(error) || isRateLimited(error);
      if (this.#options.signal?.aborted || !passes) throw error;
      yield { type: 'outage', error, failures: this.#pace.failed() };
    }
  }
}

/** @throws the error unless it says that the envelope doesn't exist. */
function asMissing(error: unknown): ServiceError {
  if (isNotFound(error)) return error;
  throw error;
}
