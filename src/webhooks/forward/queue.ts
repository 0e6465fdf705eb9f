import { Bell } from '../../kernel/bell.ts';
import type { Clock } from '../../kernel/clock.ts';
import { messageOf } from '../../kernel/errors.ts';
import { Limiter } from '../../kernel/limiter.ts';
import { eventAt } from '../journal/event-journal.ts';
import { type ForwardEnd, type Owed, targetName } from './ledger.ts';
import { type Forwardable, type ForwardResult, forwardOnce, resultOf, storedDelivery } from './send.ts';

export interface ForwarderOptions {
  urls: readonly string[];
  timeoutMs: number;
  clock: Clock;
  onResult: (result: ForwardResult) => void;
  /** It is over with this one, well or badly; told once for each delivery and address. */
  onEnd: (owed: Owed, end: ForwardEnd, url: string) => void;
}

/** How long a delivery is tried again. */
export const FORWARDED_FOR_MS = 86_400_000;
/** The last one is repeated. */
const PAUSES_MS = [500, 2_000, 5_000, 15_000, 30_000, 60_000];
/** An application that says no so often means it; what comes behind shall not wait for a day. */
const REFUSALS = 5;
/** A 4xx that is about the moment and not about the message. */
const FOR_NOW = new Set([408, 425, 429]);
/** To one address at once. */
const AT_ONCE = 32;
/** What is kept in memory of what waits; the rest is read from the journal when its turn comes. */
const HELD_BYTES = 16 * 1024 * 1024;

interface Waiting extends Owed {
  held: Forwardable | undefined;
  /** When it was tried first, in ms since the epoch. */
  triedAt?: number;
  /** What came of the last try. */
  error?: string | null;
}

/** The delivery that an address has not taken for longest. */
export interface HeldBack {
  url: string;
  ms: number;
  /** What came of its last try; null while the first is under way. */
  error: string | null;
  /** How many of its envelope wait behind it. */
  behind: number;
}

interface Nap {
  until: number;
  bell: Bell;
  /** It ends early to be tried at once, and not because all ends. */
  isCalled: boolean;
}

interface Target {
  url: string;
  /** What waits for each envelope, the first of it under way. */
  lines: Map<string, Waiting[]>;
  places: Limiter;
}

/**
 * Passes deliveries on behind the back of whoever sent them: in order for each envelope, tried again until they are
 * taken, for a day at most.
 */
export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #targets: Map<string, Target>;
  readonly #work = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  readonly #naps = new Set<Nap>();
  #heldBytes = 0;
  #pending = 0;
  #endsAt = Number.POSITIVE_INFINITY;

  constructor(options: ForwarderOptions) {
    this.#options = options;
    this.#targets = new Map(
      options.urls.map((url) => [targetName(url), { url, lines: new Map(), places: new Limiter(AT_ONCE) }]),
    );
  }

  /** The names of the addresses. */
  get targets(): string[] {
    return [...this.#targets.keys()];
  }

  /** How many are not over yet, counted for each address. */
  get pending(): number {
    return this.#pending;
  }

  /** What waits for longest since it was tried first. */
  get heldBack(): HeldBack | undefined {
    const now = this.#options.clock.now();
    let found: HeldBack | undefined;
    for (const { url, lines } of this.#targets.values())
      for (const [first, ...rest] of lines.values()) {
        const ms = now - (first?.triedAt ?? now);
        if (ms > (found?.ms ?? 0)) found = { url, ms, error: first?.error ?? null, behind: rest.length };
      }
    return found;
  }

  /** Tries at once what waits for its next try. Returns how many do. */
  tryNow(): number {
    for (const nap of this.#naps) {
      nap.isCalled = true;
      nap.bell.ring();
    }
    return this.#naps.size;
  }

  /** Takes over what one address is owed, and returns at once. */
  take(owed: Owed, delivery?: Forwardable): void {
    const target = this.#targets.get(owed.target);
    if (target === undefined || this.#stop.signal.aborted) return;
    this.#pending++;
    const isHeld = delivery !== undefined && this.#heldBytes + delivery.raw.byteLength <= HELD_BYTES;
    if (isHeld) this.#heldBytes += delivery.raw.byteLength;
    const waiting = { ...owed, held: isHeld ? delivery : undefined };
    const name = owed.envelopeId ?? owed.deliveryId;
    const line = target.lines.get(name);
    if (line) {
      line.push(waiting);
      return;
    }
    const fresh = [waiting];
    target.lines.set(name, fresh);
    const work = this.#runLine(target, name, fresh).finally(() => this.#work.delete(work));
    this.#work.add(work);
  }

  /**
   * Goes on for at most so many ms, less when nothing that waits is due by then, and gives up. What is not over is
   * owed still.
   */
  async drain(ms: number): Promise<void> {
    const { clock } = this.#options;
    this.#endsAt = clock.now() + ms;
    this.#wake((until) => until > this.#endsAt);
    const done = new AbortController();
    const all = Promise.allSettled(this.#work).then(() => done.abort());
    await Promise.race([all, clock.sleep(ms, done.signal).catch(() => undefined)]);
    this.#stop.abort(new Error('stopped'));
    this.#wake(() => true);
    await all;
  }

  #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  #wake(which: (until: number) => boolean): void {
    for (const { until, bell } of this.#naps) if (which(until)) bell.ring();
  }

  async #runLine(target: Target, name: string, line: Waiting[]): Promise<void> {
    for (let next = line[0]; next !== undefined; next = line[0]) {
      const end = await this.#deliver(next, target, line);
      if (end === undefined) return;
      this.#pending--;
      this.#heldBytes -= next.held?.raw.byteLength ?? 0;
      this.#options.onEnd(next, end, target.url);
      line.shift();
    }
    target.lines.delete(name);
  }

  /** Undefined when it was stopped before it came to an end. */
  async #deliver(
    waiting: Waiting,
    target: Target,
    line: readonly Waiting[],
  ): Promise<ForwardEnd | undefined> {
    const { clock } = this.#options;
    for (let attempt = 1; ; attempt++) {
      if (clock.now() - waiting.receivedAt > FORWARDED_FOR_MS) return 'expired';
      const behind = () => line.length - 1;
      const end = await target.places.run(() => this.#attempt(waiting, target, attempt, behind));
      if (end !== undefined) return end;
      if (!(await this.#nap(pauseAfter(attempt)))) return undefined;
    }
  }

  /** Undefined when it is to be tried again. */
  async #attempt(
    waiting: Waiting,
    target: Target,
    attempt: number,
    behind: () => number,
  ): Promise<ForwardEnd | undefined> {
    if (this.#isStopped()) return undefined;
    waiting.triedAt ??= this.#options.clock.now();
    const delivery = waiting.held ?? (await fromJournal(waiting));
    // Its day was removed from the journal.
    if (delivery === undefined) return 'expired';
    const result = await this.#send(delivery, target.url, attempt);
    waiting.error = result.error;
    const end = endAfter(result);
    const nextMs = end === undefined ? this.#next(attempt) : null;
    if (result.error === null || !this.#isStopped())
      this.#options.onResult({ ...result, nextMs, waiting: behind() });
    return end;
  }

  async #send(delivery: Forwardable, url: string, attempt: number): Promise<ForwardResult> {
    const { clock, timeoutMs } = this.#options;
    try {
      return await forwardOnce(delivery, url, { attempt, timeoutMs, clock, signal: this.#stop.signal });
    } catch (error) {
      // node:http refuses some headers that it has read itself.
      return resultOf(delivery, url, { attempt, status: null, ms: 0, error: messageOf(error) });
    }
  }

  /** When it is tried again, in ms; null when not in this run. */
  #next(attempt: number): number | null {
    const ms = pauseAfter(attempt);
    return this.#options.clock.now() + ms > this.#endsAt ? null : ms;
  }

  /** False when it is not to be tried again in this run. */
  async #nap(ms: number): Promise<boolean> {
    const { clock } = this.#options;
    const until = clock.now() + ms;
    if (until > this.#endsAt || this.#isStopped()) return false;
    const nap: Nap = { until, bell: new Bell(clock), isCalled: false };
    this.#naps.add(nap);
    const isCutShort = await nap.bell.wait(ms);
    this.#naps.delete(nap);
    return (!isCutShort || nap.isCalled) && !this.#isStopped();
  }
}

/** How long to wait before the next try, in ms. */
function pauseAfter(attempt: number): number {
  return PAUSES_MS[attempt - 1] ?? PAUSES_MS.at(-1) ?? 0;
}

/** Undefined when it is to be tried again. */
function endAfter({ error, status, attempt }: ForwardResult): ForwardEnd | undefined {
  if (error === null) return 'taken';
  return isRefusal(status) && attempt >= REFUSALS ? 'refused' : undefined;
}

/** The application has understood and does not want it. */
function isRefusal(status: number | null): boolean {
  return status !== null && status >= 300 && status < 500 && !FOR_NOW.has(status);
}

/** Undefined when it is not there any more, or can't be read. */
async function fromJournal(owed: Owed): Promise<Forwardable | undefined> {
  const record = await eventAt(owed.place).catch(() => undefined);
  if (record?.deliveryId !== owed.deliveryId) return undefined;
  return storedDelivery(record);
}
