/** A clock that is passed in, so that a test can wait thirty days in a millisecond. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason if it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Returns a time relative to now, such as `three days ago`, in ms since the epoch. */
export type Moment = (now: number) => number;

/** The longest delay of a timer. Longer ones end immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    let left = ms;
    for (; left > MAX_TIMER_MS; left -= MAX_TIMER_MS) await sleepOnce(MAX_TIMER_MS, signal);
    await sleepOnce(left, signal);
  },
};

/** The property of its process object in which tests give a command another clock. It has no name that a user or a script could set. */
const TEST_CLOCK = Symbol.for('esign-cli.test-clock');

/** Returns the clock of a command: the system's, except in tests. */
export function clockOfCommand(): Clock {
  const given: unknown = Reflect.get(process, TEST_CLOCK);
  return isClock(given) ? given : systemClock;
}

function isClock(value: unknown): value is Clock {
  return typeof value === 'object' && value !== null && 'now' in value && 'sleep' in value;
}

function sleepOnce(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(abortReason(signal));
      return;
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    const onAbort = () => {
      clearTimeout(timer);
      if (signal) reject(abortReason(signal));
    };
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Waits until the work ends, with or without an error, but at most `ms`. */
export async function waitAtMost(ms: number, work: Promise<unknown>, clock: Clock): Promise<void> {
  const done = new AbortController();
  await Promise.race([work.catch(() => undefined), clock.sleep(ms, done.signal).catch(() => undefined)]);
  done.abort();
}

/** A time limit. If the clock is set back, the limit moves back with it, so that nothing waits longer than the limit once more. */
export class TimeLimit {
  readonly #clock: Pick<Clock, 'now'>;
  #last: number;
  #until: number;

  constructor(clock: Pick<Clock, 'now'>, ms: number) {
    this.#clock = clock;
    this.#last = clock.now();
    this.#until = this.#last + ms;
  }

  /** Returns the time left in ms, or 0 if it is over. */
  left(): number {
    const now = this.#clock.now();
    if (now < this.#last) this.#until -= this.#last - now;
    this.#last = now;
    return Math.max(0, this.#until - now);
  }
}

/** Returns the reason of an aborted signal as an Error. */
export function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('aborted');
}

export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

const WITHOUT_ZONE = /^\d{4}-\d{2}-\d{2}T[\d:.]+$/;

/**
 * Parses a timestamp of the service (ms since the epoch); NaN if it is missing or invalid. Timestamps are UTC (API document,
 * conventions), even without `Z`, which JavaScript would read as local time.
 */
export function timeOf(timestamp: string | null | undefined): number {
  const text = timestamp ?? '';
  if (text.endsWith('Z')) return Date.parse(text);
  return Date.parse(WITHOUT_ZONE.test(text) ? `${text}Z` : text);
}

/**
 * Parses a date or timestamp in ISO 8601 that a person wrote (ms since the epoch), in UTC unless it has a time zone, so that it means the
 * same on every machine. Returns NaN for other formats and for days that don't exist, which `Date.parse` reads as a day of the next month.
 */
export function writtenTime(text: string): number {
  const day = /^\d{4}-\d{2}-\d{2}(?=$|[T ]\d)/.exec(text)?.[0];
  if (day === undefined || new Date(`${day}T00:00Z`).getUTCDate() !== Number(day.slice(-2)))
    return Number.NaN;
  return timeOf(text.replace(' ', 'T').replaceAll(' ', ''));
}
