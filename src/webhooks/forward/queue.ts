import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { JournalPosition } from '../../journal/day-journal.ts';
import { Limiter } from '../../kernel/async/limiter.ts';
import { type Clock, waitAtMost } from '../../kernel/clock.ts';
import { messageOf } from '../../kernel/errors.ts';
import type { EventRecord, ForwardOutcome } from '../journal/record.ts';
import { FORWARD_TIMEOUT_MS } from '../listen-limits.ts';
import { type Forwardable, type ForwardResult, forwardOnce, resultOf } from './send.ts';

/** A delivery that an address has not accepted yet. Its bytes stay in the journal until they are sent. */
export interface PendingForward extends Pick<EventRecord, 'deliveryId' | 'event' | 'envelopeId'> {
  /** The name of the address. */
  target: string;
  /** ms since the epoch */
  receivedAt: number;
  place: JournalPosition;
}

export interface ForwarderOptions {
  urls: readonly string[];
  clock: Clock;
  /** Returns the delivery to send, or undefined if it no longer exists. */
  read: (pending: PendingForward) => Promise<Forwardable | undefined>;
  onResult: (result: ForwardResult) => void;
  /** Called once per delivery and address, with the final outcome. */
  onEnd: (pending: PendingForward, outcome: ForwardOutcome, url: string) => void;
}

/** How long a delivery is retried before it expires. */
export const RETRY_PERIOD_MS = 86_400_000;
/** The delays between attempts. After the last one, it is used repeatedly. */
const RETRY_DELAYS_MS = [500, 2_000, 5_000, 15_000, 30_000, 60_000];
/** After this many refusals, a delivery is given up: further attempts would only delay the next deliveries. */
const MAX_REFUSALS = 5;
/** 4xx statuses that are temporary. */
const TEMPORARY_STATUSES = new Set([408, 425, 429]);
/** The maximum number of simultaneous requests per address. */
const CONCURRENCY = 32;

interface QueuedForward extends PendingForward {
  /** ms since the epoch */
  queuedAt: number;
  /** The error of the last attempt. */
  error: string | null;
  /** The number of attempts that were refused. */
  refusals: number;
}

/** The delivery that has been waiting the longest, and the error of its last attempt. */
export interface OldestForward {
  url: string;
  ms: number;
  error: string | null;
}

interface Target {
  url: string;
  /** The queue of each envelope. Its first delivery is the one being sent. */
  queues: Map<string, QueuedForward[]>;
  limiter: Limiter;
}

/** Returns the name of an address in journals. It is a hash because an address may contain a secret. */
export function targetName(url: string): string {
  return createHash('sha256').update(url).digest('hex').slice(0, 16);
}

/** Forwards deliveries in the background. Deliveries of an envelope are sent in order, and each is retried for up to a day. */
export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #targets: Map<string, Target>;
  readonly #work = new Set<Promise<void>>();
  /** Aborted by `stop`: nothing is retried anymore. */
  readonly #stopping = new AbortController();
  /** Aborted at the end of `stop`: open requests are ended. */
  readonly #ended = new AbortController();
  #pending = 0;

  constructor(options: ForwarderOptions) {
    this.#options = options;
    // Each open request and each pause listens to them.
    setMaxListeners(0, this.#stopping.signal, this.#ended.signal);
    this.#targets = new Map(
      options.urls.map((url) => [
        targetName(url),
        { url, queues: new Map(), limiter: new Limiter(CONCURRENCY) },
      ]),
    );
  }

  /** The names of the addresses. */
  get targets(): string[] {
    return [...this.#targets.keys()];
  }

  /** The number of pending forwards; a delivery counts once per address. */
  get pending(): number {
    return this.#pending;
  }

  /** The delivery that has been waiting the longest in this run. */
  get oldest(): OldestForward | undefined {
    const now = this.#options.clock.now();
    let found: OldestForward | undefined;
    for (const { url, queues } of this.#targets.values())
      for (const [{ queuedAt, error } = { queuedAt: now, error: null }] of queues.values())
        if (found === undefined || now - queuedAt > found.ms) found = { url, ms: now - queuedAt, error };
    return found;
  }

  /** Queues a delivery, without waiting for it to be sent. */
  enqueue(pending: PendingForward): void {
    const target = this.#targets.get(pending.target);
    if (target === undefined) return;
    this.#pending++;
    const queued = { ...pending, queuedAt: this.#options.clock.now(), error: null, refusals: 0 };
    const name = pending.envelopeId ?? pending.deliveryId;
    const queue = target.queues.get(name);
    if (queue) {
      queue.push(queued);
      return;
    }
    const fresh = [queued];
    target.queues.set(name, fresh);
    const work = this.#runQueue(target, name, fresh).finally(() => this.#work.delete(work));
    this.#work.add(work);
  }

  /** Sends what can be sent within `ms` without a retry, then ends open requests. Other deliveries stay pending. */
  async stop(ms: number): Promise<void> {
    this.#stopping.abort(new Error('stopped'));
    const all = Promise.allSettled(this.#work);
    await waitAtMost(ms, all, this.#options.clock);
    this.#ended.abort(new Error('stopped'));
    await all;
  }

  async #runQueue(target: Target, name: string, queue: QueuedForward[]): Promise<void> {
    for (let next = queue[0]; next !== undefined; next = queue[0]) {
      const outcome = await this.#deliver(next, target);
      if (outcome === undefined) return;
      this.#pending--;
      this.#options.onEnd(next, outcome, target.url);
      queue.shift();
    }
    target.queues.delete(name);
  }

  /** Returns the outcome, or undefined if forwarding stopped first. */
  async #deliver(queued: QueuedForward, { url, limiter }: Target): Promise<ForwardOutcome | undefined> {
    const { clock } = this.#options;
    for (let attempt = 1; ; attempt++) {
      if (clock.now() - queued.receivedAt > RETRY_PERIOD_MS) return 'expired';
      const result = await limiter.run(() => this.#attempt(queued, url, attempt));
      if (result === undefined) return 'expired';
      if (result.error !== null && this.#ended.signal.aborted) return undefined;
      queued.error = result.error;
      queued.refusals += Number(isRefusal(result.status));
      const outcome = outcomeOf(queued);
      const nextMs = outcome === undefined ? this.#delayAfter(attempt) : null;
      this.#options.onResult({ ...result, nextMs });
      if (nextMs === null) return outcome;
      if (!(await this.#pause(nextMs))) return undefined;
    }
  }

  /** Returns the delay before the next attempt, in ms, or null if this run makes no further attempt. */
  #delayAfter(attempt: number): number | null {
    if (this.#stopping.signal.aborted) return null;
    return RETRY_DELAYS_MS[attempt - 1] ?? RETRY_DELAYS_MS.at(-1) ?? 0;
  }

  /** Sends a delivery once. Returns undefined if it was deleted from the journal. */
  async #attempt(queued: QueuedForward, url: string, attempt: number): Promise<ForwardResult | undefined> {
    const { clock, read } = this.#options;
    const failed = (error: unknown) =>
      resultOf(queued, url, { attempt, status: null, ms: 0, error: messageOf(error) });
    if (this.#ended.signal.aborted) return failed(this.#ended.signal.reason);
    try {
      const delivery = await read(queued);
      if (delivery === undefined) return undefined;
      const options = { attempt, timeoutMs: FORWARD_TIMEOUT_MS, clock, signal: this.#ended.signal };
      return await forwardOnce(delivery, url, options);
    } catch (error) {
      // The journal can't be read now, or node:http refuses to send headers that its own parser accepts.
      return failed(error);
    }
  }

  /** Waits before the next attempt. Returns false if this run makes no further attempt. */
  #pause(ms: number): Promise<boolean> {
    return this.#options.clock.sleep(ms, this.#stopping.signal).then(
      () => true,
      () => false,
    );
  }
}

/** Returns the outcome, or undefined if the delivery should be retried. */
function outcomeOf({ error, refusals }: QueuedForward): ForwardOutcome | undefined {
  if (error === null) return 'accepted';
  return refusals >= MAX_REFUSALS ? 'refused' : undefined;
}

/** Returns true if the application understood the delivery and refused it. */
function isRefusal(status: number | null): boolean {
  return status !== null && status >= 300 && status < 500 && !TEMPORARY_STATUSES.has(status);
}
