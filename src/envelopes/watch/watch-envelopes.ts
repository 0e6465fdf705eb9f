import type { Client } from '../../api/client.ts';
import type { Envelope } from '../../api/schemas.ts';
import { TimeLimit } from '../../kernel/clock.ts';
import { isOutage, isRateLimited } from '../../kernel/request-failures.ts';
import { isTerminal, LIMITS, showsSigners } from '../../kernel/vocabulary.ts';
import { Memory, type StatusChange } from './last-seen.ts';
import { PollPace } from './pace.ts';
import { EnvelopePoller } from './poller.ts';
import { type Wakeup, Wakeups } from './wakeups.ts';

export type { StatusChange } from './last-seen.ts';

export type WatchEvent =
  | { type: 'change'; change: StatusChange }
  /** The envelope doesn't exist. The others are still watched. */
  | { type: 'gone'; id: string; error: Error }
  /** The service can't be reached. Polling continues. */
  | { type: 'outage'; error: Error; failures: number }
  | { type: 'recovered' }
  /** The source of wake-ups failed. Polling continues without it. */
  | { type: 'wakeupsFailed'; error: unknown };

/** The requests of a poll, and the pause before the next one. */
export interface PollReport {
  at: number;
  requests: number;
  open: number;
  nextMs: number;
}

export interface WatchOptions {
  /** Statuses to wait for. */
  until: readonly string[];
  intervalMs: number;
  /** The longest pause while nothing changes. Default: the interval. */
  quietMs?: number | undefined;
  /** Reports events of envelopes. Each is then polled immediately. */
  wakeups?: AsyncIterable<Wakeup> | undefined;
  onPoll?: ((report: PollReport) => void) | undefined;
  random?: () => number;
  signal?: AbortSignal;
}

/** The most requests per poll for envelopes that seem unchanged. */
const MAX_RECHECKS = 12;

/**
 * Watches envelopes until each is in an awaited or a final status. Yields each change once, in order. A poll needs one request
 * per envelope or list page, whichever is less. It reports outages, 429, and 5xx, and waits until they end; a permanent error
 * such as 401 ends the watch.
 */
export async function* watchEnvelopes(
  client: Client,
  ids: readonly string[],
  options: WatchOptions,
): AsyncGenerator<WatchEvent, void, undefined> {
  const watch = new Watch(client, ids, options);
  try {
    yield* watch.run();
  } finally {
    watch.close();
  }
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
  readonly #poller: EnvelopePoller;
  readonly #memory = new Memory();
  readonly #pace: PollPace;
  readonly #wakeups: Wakeups;
  /** The watched envelopes, with their last known statuses. */
  readonly #open: Map<string, string | undefined>;
  /** The watched envelopes, starting with the one whose signers were read longest ago. */
  readonly #turns: Set<string>;

  constructor(client: Client, ids: readonly string[], options: WatchOptions) {
    this.#client = client;
    this.#options = options;
    this.#poller = new EnvelopePoller(client);
    this.#pace = new PollPace({ ...options, random: options.random ?? Math.random });
    this.#wakeups = new Wakeups(client.clock, options.wakeups);
    this.#open = new Map(ids.map((id) => [id, undefined]));
    this.#turns = new Set(ids);
  }

  async *run(): Events {
    const { onPoll, signal } = this.#options;
    const { clock } = this.#client;
    for (;;) {
      const before = this.#poller.requests;
      const open = this.#open.size;
      yield* this.#withOutages(this.#poll());
      this.#poller.expect(Math.max(0, open - this.#open.size));
      const nextMs = this.#pace.next(clock.now());
      const requests = this.#poller.requests - before;
      onPoll?.({ at: clock.now(), requests, open: this.#open.size, nextMs });
      if (this.#open.size === 0) return;
      const pause = new TimeLimit(clock, nextMs);
      do {
        await this.#wakeups.sleep(pause.left(), signal);
        yield* this.#withOutages(this.#pollWoken());
        if (this.#open.size === 0) return;
      } while (pause.left() > 0);
    }
  }

  close(): void {
    this.#wakeups.close();
  }

  /** Polls all envelopes: lists if they need fewer requests, then by ID those that the lists show too little of. */
  async *#poll(): Events {
    const { signal } = this.#options;
    const isFirst = [...this.#open.values()].every((status) => status === undefined);
    const rest = new Map(this.#open);
    const whole = new Set<string>();
    const before = this.#poller.requests;
    const held: Envelope[] = [];
    for await (const page of this.#poller.lists(rest, signal)) {
      yield* this.#recovered();
      if (isFirst) for (const one of page) held.push(one);
      else for (const item of page) yield* this.#takeItem(item, whole);
      yield* this.#pollWoken();
    }
    // The first report has the order in which the envelopes were given.
    for (const item of this.#inOrder(held)) yield* this.#takeItem(item, whole);
    for (const id of rest.keys()) whole.add(id);
    yield* this.#takeEach([...whole].filter((id) => this.#open.has(id)));
    if (whole.size < this.#open.size) yield* this.#takeEach(this.#inTurn(this.#poller.requests - before));
  }

  /** If lists lack signers, returns the next few envelopes to read, because someone may have viewed or signed. */
  #inTurn(spent: number): string[] {
    if (!this.#poller.needsEach) return [];
    const budget = Math.max(MAX_RECHECKS, Math.ceil(this.#open.size / LIMITS.pageSize) + 2);
    return [...this.#turns].slice(0, Math.max(1, budget - spent));
  }

  async *#pollWoken(): Events {
    const failure = this.#wakeups.takeFailure();
    if (failure !== undefined) yield { type: 'wakeupsFailed', error: failure };
    const ids = [...this.#wakeups.take()].filter((id) => this.#open.has(id));
    if (ids.length === 0) return;
    this.#pace.moved();
    const rest = new Map(ids.map((id) => [id, this.#open.get(id)]));
    const whole = new Set<string>();
    for await (const page of this.#poller.lists(rest, this.#options.signal)) {
      yield* this.#recovered();
      for (const item of page) yield* this.#takeItem(item, whole);
    }
    for (const id of rest.keys()) whole.add(id);
    yield* this.#takeEach([...whole].filter((id) => this.#open.has(id)));
  }

  async *#takeEach(ids: readonly string[]): Events {
    for await (const result of this.#poller.each(ids, this.#options.signal)) {
      yield* this.#recovered();
      const { id, envelope } = result;
      if (envelope !== undefined) yield* this.#take(id, envelope);
      else if (this.#open.has(id)) {
        this.#close(id);
        this.#pace.moved();
        yield { type: 'gone', id, error: result.error };
      }
    }
  }

  /** Takes a list item if it has signers or is unchanged. Otherwise, the whole envelope has to be read. */
  *#takeItem(item: Envelope, whole: Set<string>): Generator<WatchEvent, void, undefined> {
    const isEnough = showsSigners(item) || !this.#poller.needsEach || !this.#memory.differs(item.id, item);
    if (isEnough) yield* this.#take(item.id, item);
    else whole.add(item.id);
  }

  *#take(id: string, envelope: Envelope): Generator<WatchEvent, void, undefined> {
    if (!this.#open.has(id)) return;
    if (showsSigners(envelope)) this.#turns.delete(id);
    const changes = this.#memory.take(id, envelope, this.#client.serviceClock.now());
    for (const change of changes) yield { type: 'change', change };
    const last = changes.at(-1);
    if (last !== undefined) this.#pace.moved();
    if (last !== undefined && isOver({ id, status: last.to }, this.#options.until)) return this.#close(id);
    this.#open.set(id, last?.to ?? this.#open.get(id));
    this.#turns.add(id);
  }

  #close(id: string): void {
    this.#open.delete(id);
    this.#turns.delete(id);
    this.#memory.forget(id);
  }

  #inOrder(items: readonly Envelope[]): Envelope[] {
    if (items.length === 0) return [];
    const places = new Map([...this.#open.keys()].map((id, index) => [id, index]));
    const placeOf = ({ id }: Envelope) => places.get(id) ?? places.size;
    return items.toSorted((a, b) => placeOf(a) - placeOf(b));
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
      yield { type: 'outage', error, failures: this.#pace.failed(error) };
    }
  }
}
