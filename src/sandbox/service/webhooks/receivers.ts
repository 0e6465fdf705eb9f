import { Limiter } from '../../../kernel/async/limiter.ts';

/** The maximum number of simultaneous requests to one receiver. */
const CONCURRENCY = 8;

interface Receiver {
  limiter: Limiter;
  /** The receiver's unfinished work. */
  work: Set<Promise<void>>;
}

/** The webhook receivers by origin. Each has its own queue, so that a hanging one doesn't delay others. */
export class Receivers {
  readonly #receivers = new Map<string, Receiver>();

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
    return this.#of(originOf(url)).limiter.run(request);
  }

  /** Resolves when all work is finished. */
  async idle(): Promise<void> {
    for (let work = this.#work(); work.length > 0; work = this.#work()) await Promise.all(work);
  }

  #work(): Promise<void>[] {
    return [...this.#receivers.values()].flatMap(({ work }) => [...work]);
  }

  #of(origin: string): Receiver {
    const known = this.#receivers.get(origin);
    if (known) return known;
    const receiver = { limiter: new Limiter(CONCURRENCY), work: new Set<Promise<void>>() };
    this.#receivers.set(origin, receiver);
    return receiver;
  }
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}
