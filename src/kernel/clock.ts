/** Time as a value that is handed in, so that a test can wait thirty days in a millisecond. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A point in time once it is known what time it is, such as `three days ago`. In ms since the epoch. */
export type Moment = (now: number) => number;

/** The longest a timer can wait; with more it ends immediately. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    let left = ms;
    for (; left > LONGEST_TIMER_MS; left -= LONGEST_TIMER_MS) await sleepOnce(LONGEST_TIMER_MS, signal);
    await sleepOnce(left, signal);
  },
};

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

/** The reason of an aborted signal as an Error. */
export function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('aborted');
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

const WITHOUT_ZONE = /^\d{4}-\d{2}-\d{2}T[\d:.]+$/;

/**
 * A timestamp of the service in ms since the epoch; NaN when there is none or it can't be read. Timestamps are UTC (API
 * document, conventions), also where one lacks its `Z`: JavaScript would read that in this machine's time zone.
 */
export function timeOf(timestamp: string | null | undefined): number {
  const text = timestamp ?? '';
  return Date.parse(WITHOUT_ZONE.test(text) ? `${text}Z` : text);
}
