import { Limiter } from '../../../kernel/async/limiter.ts';
import type { Clock } from '../../../kernel/clock.ts';

/** The maximum number of simultaneous requests to one receiver. */
const CONCURRENCY = 8;
/** The time in ms after which a receiver counts as hanging and no longer delays others. */
const HANGING_MS = 1_000;

interface Receiver {
  limiter: Limiter;
  /** The receiver's unfinished work. */
  work: Set<Promise<void>>;
  /** The start times of its pending requests, oldest first. */
  begun: Set<{ at: number }>;
}

/** The webhook receivers by origin. Each has its own queue, so that a hanging one doesn't delay others. */
export class Receivers {
  readonly #clock: Clock;
  readonly #receivers = new Map<string, Receiver>();

  /** `clock` is the machine's, because receivers respond in real time. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Tracks work for the receiver of a URL until it ends. The promise must not reject. */
  track(url: string, work: Promise<void>): void {
    const origin = originOf(url);
    const receiver = this.#of(origin);
    const tracked = work.finally(() => {
      receiver.work.delete(tracked);
      if (receiver.work.size === 0) this.#receivers.delete(origin);
    });
    receiver.work.add(tracked);
  }

  /** Runs a request to the receiver of a URL when it is its turn. */
  run<T>(url: string, request: () => Promise<T>): Promise<T> {
    const receiver = this.#of(originOf(url));
    return receiver.limiter.run(async () => {
      const begun = { at: this.#clock.now() };
      receiver.begun.add(begun);
      return request().finally(() => receiver.begun.delete(begun));
    });
  }

  /** Resolves when all work is finished. */
  async idle(): Promise<void> {
    for (let work = this.#work(); work.length > 0; work = this.#work()) await Promise.all(work);
  }

  /** Resolves when all work is finished, except for receivers that hang. */
  async whenIdle(): Promise<void> {
    for (;;) {
      const now = this.#clock.now();
      const busy = [...this.#receivers.values()].map((one) => {
        const [oldest = { at: now }] = one.begun;
        return { work: [...one.work], left: oldest.at + HANGING_MS - now };
      });
      const answering = busy.filter(({ left }) => left > 0);
      if (answering.length === 0) return;
      const soonest = Math.min(...answering.map(({ left }) => left));
      const done = new AbortController();
      void Promise.all(answering.flatMap(({ work }) => work)).then(() => done.abort());
      await this.#clock.sleep(soonest, done.signal).catch(() => undefined);
    }
  }

  #work(): Promise<void>[] {
    return [...this.#receivers.values()].flatMap(({ work }) => [...work]);
  }

  #of(origin: string): Receiver {
    const known = this.#receivers.get(origin);
    if (known) return known;
    const receiver = {
      limiter: new Limiter(CONCURRENCY),
      work: new Set<Promise<void>>(),
      begun: new Set<{ at: number }>(),
    };
    this.#receivers.set(origin, receiver);
    return receiver;
  }
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}
