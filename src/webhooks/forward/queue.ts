import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { type Clock, waitAtMost } from '../../kernel/clock.ts';
import { DAY_MS } from '../../kernel/duration.ts';
import { messageOf } from '../../kernel/errors.ts';
import type { JournalPosition } from '../../lines/day-journal.ts';
import type { EventRecord, ForwardOutcome } from '../journal/record.ts';
import { FORWARD_TIMEOUT_MS } from '../listen-defaults.ts';
import { Fifo } from './fifo.ts';
import { type Forwardable, type ForwardResult, forwardOnce, forwardResultOf } from './send.ts';

/** A delivery that an address has not accepted yet. There may be many, so it holds little: its bytes stay in the journal until they are sent. */
export interface PendingForward extends JournalPosition, Pick<EventRecord, 'deliveryId' | 'envelopeId'> {
  /** ms since the epoch */
  receivedAt: number;
  attempts: number;
  /** The number of attempts that were refused. */
  refusals: number;
  /** The error of the last attempt. */
  error: string | null;
  /** The next delivery of the same envelope. */
  next: PendingForward | undefined;
  /** The last delivery of the same envelope. Only kept up to date for the first one. */
  last: PendingForward | undefined;
}

export interface ForwardQueueOptions {
  url: string;
  clock: Clock;
  /** Returns the delivery to send, or undefined if it no longer exists. */
  read: (pending: PendingForward) => Promise<Forwardable | undefined>;
  onResult: (result: ForwardResult) => void;
  /** Called once per delivery, with the final outcome. The next delivery of the envelope waits for it. */
  onEnd: (pending: PendingForward, outcome: ForwardOutcome) => Promise<void>;
}

/** How long a delivery is retried before it expires. */
export const RETRY_PERIOD_MS = DAY_MS;
/** The delays between attempts, and after those. */
const RETRY_DELAYS_MS = [500, 2_000, 5_000, 15_000, 30_000];
const MAX_RETRY_DELAY_MS = 60_000;
/** Retries that are due within this time share a timer. */
const RETRY_STEP_MS = 100;
/** After this many refusals, a delivery is given up: further attempts would only delay the next deliveries. */
const MAX_REFUSALS = 5;
/** 4xx statuses that are temporary. */
const TEMPORARY_STATUSES = new Set([408, 425, 429]);
/** The maximum number of simultaneous requests. */
const CONCURRENCY = 32;
/** The pause after each attempt while the application is down. Otherwise, a long queue would keep the processor busy with retries. */
const PAUSE_MS = 250;

/** The delivery that has been waiting the longest, and the error of its last attempt. */
export type OldestForward = Pick<ForwardResult, 'url' | 'ms' | 'error'>;

/** Returns the name of an address in journals. It is a hash because an address may contain a secret. */
export function targetName(url: string): string {
  return createHash('sha256').update(url).digest('hex').slice(0, 16);
}

export function pendingForward(record: EventRecord, { path, start, end }: JournalPosition): PendingForward {
  const { deliveryId, envelopeId } = record;
  const receivedAt = Date.parse(record.receivedAt);
  const unsent = { attempts: 0, refusals: 0, error: null, next: undefined, last: undefined };
  return { deliveryId, envelopeId, receivedAt, path, start, end, ...unsent };
}

/** Forwards deliveries to an address in the background. Those of an envelope are sent in order. Each is retried for up to a day. */
export class ForwardQueue {
  readonly #options: ForwardQueueOptions;
  /** The first delivery of each envelope: it is ready, being sent, or waiting for a retry. */
  readonly #firsts = new Map<string, PendingForward>();
  /** Deliveries to send now. */
  readonly #ready = new Fifo<PendingForward>();
  /** Those to send again, after the others: the application may never accept them. */
  readonly #again = new Fifo<PendingForward>();
  /** Those to send again later, by the time, in steps. */
  readonly #retries = new Map<number, PendingForward[]>();
  /** Wakes workers that have nothing to send. */
  readonly #idle: (() => void)[] = [];
  #workers: Promise<unknown> = Promise.resolve();
  /** ms since the epoch */
  #startedAt = Number.POSITIVE_INFINITY;
  /** Aborted by `stop`: nothing is retried anymore. */
  readonly #stopping = new AbortController();
  /** Aborted at the end of `stop`: open requests are ended. */
  readonly #ended = new AbortController();
  #pending = 0;
  /** The number of attempts since the application last responded with anything but a temporary error. */
  #failures = 0;

  constructor(options: ForwardQueueOptions) {
    this.#options = options;
    // Each open request and each timer listens to them.
    setMaxListeners(0, this.#stopping.signal, this.#ended.signal);
  }

  get pending(): number {
    return this.#pending;
  }

  /** The delivery that has been waiting the longest in this run. */
  get oldest(): OldestForward | undefined {
    const { clock, url } = this.#options;
    let found: OldestForward | undefined;
    for (const { receivedAt, error } of this.#firsts.values()) {
      const ms = clock.now() - Math.max(receivedAt, this.#startedAt);
      if (found === undefined || ms > found.ms) found = { url, ms, error };
    }
    return found;
  }

  /** Starts sending. Before, deliveries are only queued. */
  start(): void {
    this.#startedAt = this.#options.clock.now();
    this.#workers = Promise.all(Array.from({ length: CONCURRENCY }, () => this.#work()));
  }

  /** Queues a delivery, without waiting for it to be sent. */
  enqueue(pending: PendingForward): void {
    this.#pending++;
    const first = this.#firsts.get(keyOf(pending));
    if (first === undefined) {
      this.#firsts.set(keyOf(pending), pending);
      this.#makeReady(pending);
    } else {
      // All deliveries of an envelope share the text of its ID.
      pending.envelopeId = first.envelopeId;
      (first.last ?? first).next = pending;
      first.last = pending;
    }
  }

  /** Sends what can be sent within `ms` without a retry, then ends open requests. Other deliveries stay pending. */
  async stop(ms: number): Promise<void> {
    this.#stopping.abort(new Error('stopped'));
    for (const wake of this.#idle) wake();
    await waitAtMost(ms, this.#workers, this.#options.clock);
    this.#ended.abort(new Error('stopped'));
    await this.#workers;
  }

  async #work(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      const next = this.#ready.take() ?? this.#again.take();
      if (next !== undefined) {
        await this.#send(next);
        if (this.#failures >= CONCURRENCY) await this.#pause();
      } else if (this.#stopping.signal.aborted) return;
      else await new Promise<void>((resolve) => this.#idle.push(resolve));
    }
  }

  /** Waits a moment, or until `stop`. */
  #pause(): Promise<void> {
    return this.#options.clock.sleep(PAUSE_MS, this.#stopping.signal).catch(() => undefined);
  }

  #makeReady(pending: PendingForward): void {
    (pending.attempts === 0 ? this.#ready : this.#again).add(pending);
    this.#idle.pop()?.();
  }

  async #send(pending: PendingForward): Promise<void> {
    const result = await this.#attempt(pending);
    if (result === undefined) return this.#end(pending, 'expired');
    if (result.error !== null && this.#ended.signal.aborted) return;
    pending.attempts++;
    pending.error = result.error;
    const isRefused = isRefusal(result.status);
    pending.refusals += Number(isRefused);
    this.#failures = result.error === null || isRefused ? 0 : this.#failures + 1;
    const failure = pending.refusals >= MAX_REFUSALS ? 'refused' : undefined;
    const outcome = result.error === null ? 'accepted' : failure;
    const isLast = outcome !== undefined || this.#stopping.signal.aborted;
    const nextMs = isLast ? null : (RETRY_DELAYS_MS[result.attempt - 1] ?? MAX_RETRY_DELAY_MS);
    this.#options.onResult({ ...result, nextMs });
    if (nextMs !== null) this.#retryAfter(nextMs, pending);
    if (outcome !== undefined) await this.#end(pending, outcome);
  }

  /** Sends a delivery once. Returns undefined if it is too old or was deleted from the journal. */
  async #attempt(pending: PendingForward): Promise<ForwardResult | undefined> {
    const { clock, read, url } = this.#options;
    const attempt = pending.attempts + 1;
    if (clock.now() - pending.receivedAt > RETRY_PERIOD_MS) return undefined;
    try {
      const delivery = await read(pending);
      const options = { attempt, timeoutMs: FORWARD_TIMEOUT_MS, clock, signal: this.#ended.signal };
      return delivery && (await forwardOnce(delivery, url, options));
    } catch (error) {
      // The journal can't be read now, or node:http refuses to send headers that its own parser accepts.
      const failed = { attempt, status: null, ms: 0, error: messageOf(error) };
      return forwardResultOf({ ...pending, event: null }, url, failed);
    }
  }

  #retryAfter(ms: number, pending: PendingForward): void {
    const { clock } = this.#options;
    const now = clock.now();
    const step = Math.ceil((now + ms) / RETRY_STEP_MS);
    const due = this.#retries.get(step) ?? [];
    if (due.push(pending) > 1) return;
    this.#retries.set(step, due);
    const retry = () => {
      this.#retries.delete(step);
      for (const one of due) this.#makeReady(one);
    };
    clock.sleep(step * RETRY_STEP_MS - now, this.#stopping.signal).then(retry, () => undefined);
  }

  async #end(pending: PendingForward, outcome: ForwardOutcome): Promise<void> {
    await this.#options.onEnd(pending, outcome);
    this.#pending--;
    const { next, last } = pending;
    if (next === undefined) return void this.#firsts.delete(keyOf(pending));
    next.last = last;
    this.#firsts.set(keyOf(pending), next);
    this.#makeReady(next);
  }
}

/** Returns what the deliveries of an envelope have in common. */
function keyOf({ envelopeId, deliveryId }: PendingForward): string {
  return envelopeId ?? deliveryId;
}

/** Returns true if the application understood the delivery and refused it. */
function isRefusal(status: number | null): boolean {
  return status !== null && status >= 300 && status < 500 && !TEMPORARY_STATUSES.has(status);
}
