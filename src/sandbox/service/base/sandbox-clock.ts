import type { Clock } from '../../../kernel/clock.ts';

/** The clock of the sandbox: the machine's, moved forward by a persisted offset. */
export class SandboxClock implements Clock {
  readonly #base: Clock;
  #offset = 0;

  constructor(base: Clock, { isFrozen = false }: { isFrozen?: boolean | undefined } = {}) {
    this.#base = isFrozen ? frozen(base.now()) : base;
  }

  /** The offset at which it shows this time now. */
  offsetFor(time: number): number {
    return time - this.#base.now();
  }

  get offsetMs(): number {
    return this.#offset;
  }

  /** Sets how far ahead of the machine's clock the sandbox is; who moves it also persists it. */
  set offsetMs(value: number) {
    this.#offset = value;
  }

  now(): number {
    return this.#base.now() + this.#offset;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#base.sleep(ms, signal);
  }
}

/** A clock that stands still: what is not due never will be, until the offset moves. */
function frozen(time: number): Clock {
  return {
    now: () => time,
    sleep: (ms, signal) =>
      ms <= 0
        ? Promise.resolve()
        : new Promise((_resolve, reject) => {
            signal?.addEventListener('abort', () => reject(new Error('the wait was ended')), { once: true });
          }),
  };
}

/** ISO 8601 UTC, as every timestamp of the API. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** Node's timers overflow near 25 days; a longer wait is done in pieces. */
const LONGEST_SLEEP = 24 * 3600_000;

/** Rings once when the clock reaches the time it was set to; setting it again replaces the time. */
export class Alarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #waiting: AbortController | undefined;
  #at: number | undefined;
  #closed = false;

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** `undefined` turns the alarm off. Cheap when the time is unchanged, unless `moved` says the clock jumped. */
  set(at: number | undefined, moved = false): void {
    if (this.#closed || (at === this.#at && !moved)) return;
    this.#waiting?.abort();
    this.#waiting = undefined;
    this.#at = at;
    if (at === undefined) return;
    const waiting = new AbortController();
    this.#waiting = waiting;
    void this.#wait(at, waiting.signal);
  }

  /** Off for good: a late `set` must not keep the process alive. */
  close(): void {
    this.set(undefined);
    this.#closed = true;
  }

  async #wait(at: number, signal: AbortSignal): Promise<void> {
    try {
      do {
        const left = Math.max(0, at - this.#clock.now());
        await this.#clock.sleep(Math.min(left, LONGEST_SLEEP), signal);
      } while (this.#clock.now() < at);
    } catch {
      return; // set to another time, or off
    }
    this.#at = undefined;
    this.#ring();
  }
}
