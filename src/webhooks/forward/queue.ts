import { Limiter } from '../../kernel/async/limiter.ts';
import { Wakeable } from '../../kernel/async/wakeable.ts';
import { type Clock, waitAtMost } from '../../kernel/clock.ts';
import { messageOf } from '../../kernel/errors.ts';
import { eventAt } from '../journal/event-journal.ts';
import { type ForwardEnd, type PendingForward, targetName } from './ledger.ts';
import { type Forwardable, type ForwardResult, forwardOnce, resultOf, storedDelivery } from './send.ts';

export interface ForwarderOptions {
  urls: readonly string[];
  timeoutMs: number;
  clock: Clock;
  /** Returns monotonic ms. Tests replace it. */
  elapsed?: (() => number) | undefined;
  onResult: (result: ForwardResult) => void;
  /** Called once per delivery and address, with the final outcome. */
  onEnd: (pending: PendingForward, end: ForwardEnd, url: string) => void;
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
/** The maximum size of queued bodies kept in memory. Other bodies are read from the journal when they are sent. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;

interface QueuedForward extends PendingForward {
  delivery: Forwardable | undefined;
  /** Time of the first attempt, in ms since the epoch. */
  triedAt?: number;
  /** The error of the last attempt. */
  error?: string | null;
  /** The number of attempts that were refused. */
  refusals: number;
  /** When it expires, in monotonic ms, so that a correction of the clock doesn't expire it early. */
  expiresAt: number;
}

/** The delivery that has been pending the longest. */
export interface OldestPending {
  url: string;
  ms: number;
  /** The error of its last attempt, or null during the first. */
  error: string | null;
  /** The number of deliveries of the same envelope queued behind it. */
  behind: number;
}

interface Delay {
  until: number;
  pause: Wakeable;
  /** Whether the delay was cut short by a retry rather than by a stop. */
  isRetry: boolean;
}

interface Target {
  url: string;
  /** The queue of each envelope. Its first delivery is the one being sent. */
  queues: Map<string, QueuedForward[]>;
  limiter: Limiter;
}

/** Forwards deliveries in the background. Deliveries of an envelope are sent in order, and each is retried for up to a day. */
export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #elapsed: () => number;
  readonly #targets: Map<string, Target>;
  readonly #work = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  readonly #delays = new Set<Delay>();
  #bufferedBytes = 0;
  #pending = 0;
  #endsAt = Number.POSITIVE_INFINITY;

  constructor(options: ForwarderOptions) {
    this.#options = options;
    this.#elapsed = options.elapsed ?? (() => performance.now());
    this.#targets = new Map(
      options.urls.map((url) => [
        targetName(url),
        { url, queues: new Map(), limiter: new Limiter(CONCURRENCY) },
      ]),
    );
  }

  /** The names of the target addresses in journals. */
  get targets(): string[] {
    return [...this.#targets.keys()];
  }

  /** The number of pending forwards; a delivery counts once per address. */
  get pending(): number {
    return this.#pending;
  }

  /** The delivery that has been pending the longest since its first attempt. */
  get oldestPending(): OldestPending | undefined {
    const now = this.#options.clock.now();
    let found: OldestPending | undefined;
    for (const { url, queues } of this.#targets.values())
      for (const [first, ...rest] of queues.values()) {
        const ms = now - (first?.triedAt ?? now);
        if (ms > (found?.ms ?? 0)) found = { url, ms, error: first?.error ?? null, behind: rest.length };
      }
    return found;
  }

  /** Retries all delayed deliveries immediately and returns their number. */
  retryNow(): number {
    for (const delay of this.#delays) {
      delay.isRetry = true;
      delay.pause.wake();
    }
    return this.#delays.size;
  }

  /** Queues a delivery for one address, without waiting for it to be sent. */
  enqueue(pending: PendingForward, delivery?: Forwardable): void {
    const target = this.#targets.get(pending.target);
    if (target === undefined || this.#stop.signal.aborted) return;
    this.#pending++;
    const isBuffered =
      delivery !== undefined && this.#bufferedBytes + delivery.raw.byteLength <= MAX_BUFFERED_BYTES;
    if (isBuffered) this.#bufferedBytes += delivery.raw.byteLength;
    const queued = {
      ...pending,
      delivery: isBuffered ? delivery : undefined,
      refusals: 0,
      expiresAt: this.#elapsed() + pending.receivedAt + RETRY_PERIOD_MS - this.#options.clock.now(),
    };
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

  /** Continues forwarding for at most `ms`, or until nothing more is due in that time, then stops. Other deliveries stay pending. */
  async drain(ms: number): Promise<void> {
    const { clock } = this.#options;
    this.#endsAt = clock.now() + ms;
    this.#wake((until) => until > this.#endsAt);
    const all = Promise.allSettled(this.#work);
    await waitAtMost(ms, all, clock);
    this.#stop.abort(new Error('stopped'));
    this.#wake(() => true);
    await all;
  }

  #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  #wake(which: (until: number) => boolean): void {
    for (const { until, pause } of this.#delays) if (which(until)) pause.wake();
  }

  async #runQueue(target: Target, name: string, queue: QueuedForward[]): Promise<void> {
    for (let next = queue[0]; next !== undefined; next = queue[0]) {
      const end = await this.#deliver(next, target, queue);
      if (end === undefined) return;
      this.#pending--;
      this.#bufferedBytes -= next.delivery?.raw.byteLength ?? 0;
      this.#options.onEnd(next, end, target.url);
      queue.shift();
    }
    target.queues.delete(name);
  }

  /** Returns the outcome, or undefined if forwarding stopped first. */
  async #deliver(
    queued: QueuedForward,
    target: Target,
    queue: readonly QueuedForward[],
  ): Promise<ForwardEnd | undefined> {
    for (let attempt = 1; ; attempt++) {
      if (this.#elapsed() > queued.expiresAt) return 'expired';
      const end = await target.limiter.run(() => this.#attempt(queued, target, attempt, queue));
      if (end !== undefined) return end;
      if (!(await this.#delay(pauseAfter(attempt)))) return undefined;
    }
  }

  /** Sends a delivery once. Returns undefined if it should be retried. */
  async #attempt(
    queued: QueuedForward,
    target: Target,
    attempt: number,
    queue: readonly QueuedForward[],
  ): Promise<ForwardEnd | undefined> {
    if (this.#isStopped()) return undefined;
    queued.triedAt ??= this.#options.clock.now();
    const result = await this.#send(queued, target.url, attempt);
    // The delivery was deleted from the journal.
    if (result === undefined) return 'expired';
    queued.error = result.error;
    if (isRefusal(result.status)) queued.refusals++;
    const end = endAfter(result, queued.refusals);
    const nextMs = end === undefined ? this.#nextDelay(attempt) : null;
    if (result.error === null || !this.#isStopped())
      this.#options.onResult({ ...result, nextMs, waiting: queue.length - 1 });
    return end;
  }

  /** Returns undefined if the delivery no longer exists. */
  async #send(queued: QueuedForward, url: string, attempt: number): Promise<ForwardResult | undefined> {
    const { clock, timeoutMs } = this.#options;
    try {
      const delivery = queued.delivery ?? (await fromJournal(queued));
      if (delivery === undefined) return undefined;
      return await forwardOnce(delivery, url, { attempt, timeoutMs, clock, signal: this.#stop.signal });
    } catch (error) {
      // The journal can't be read now, or node:http refuses to send headers that its own parser accepts.
      return resultOf(queued, url, { attempt, status: null, ms: 0, error: messageOf(error) });
    }
  }

  /** Returns the delay before the next attempt, in ms, or null if this run makes no further attempt. */
  #nextDelay(attempt: number): number | null {
    const ms = pauseAfter(attempt);
    return this.#options.clock.now() + ms > this.#endsAt ? null : ms;
  }

  /** Waits before the next attempt. Returns false if this run makes no further attempt. */
  async #delay(ms: number): Promise<boolean> {
    const { clock } = this.#options;
    const until = clock.now() + ms;
    if (until > this.#endsAt || this.#isStopped()) return false;
    const delay: Delay = { until, pause: new Wakeable(clock), isRetry: false };
    this.#delays.add(delay);
    const isCutShort = await delay.pause.wait(ms);
    this.#delays.delete(delay);
    return (!isCutShort || delay.isRetry) && !this.#isStopped();
  }
}

/** Returns the delay before the next attempt, in ms. */
function pauseAfter(attempt: number): number {
  return RETRY_DELAYS_MS[attempt - 1] ?? RETRY_DELAYS_MS.at(-1) ?? 0;
}

/** Returns the outcome, or undefined if the delivery should be retried. */
function endAfter({ error }: ForwardResult, refusals: number): ForwardEnd | undefined {
  if (error === null) return 'taken';
  return refusals >= MAX_REFUSALS ? 'refused' : undefined;
}

/** Returns true if the application understood the delivery and refused it. */
function isRefusal(status: number | null): boolean {
  return status !== null && status >= 300 && status < 500 && !TEMPORARY_STATUSES.has(status);
}

async function fromJournal({ place, deliveryId }: PendingForward): Promise<Forwardable | undefined> {
  const record = await eventAt(place, deliveryId);
  return record && storedDelivery(record);
}
