/** How many requests may be under way at first; doubled with each round of successes until something gives. */
const FIRST = 4;
/** Slower than this is slow, whatever the best was, in ms. */
export const SLOW_MS = 1_000;
/** A reply is slow when it takes this many times the best latency. */
const SLOW_FACTOR = 4;
const WEIGHT = 0.2;

/**
 * How many requests are in progress at the same time: additive increase while the service answers as fast as it can, multiplicative
 * decrease when it fails or slows down, between one and the most that is wanted.
 */
export class BulkPace {
  readonly #most: number;
  #limit: number;
  #active = 0;
  #starting = true;
  #best = Number.POSITIVE_INFINITY;
  #smoothed: number | undefined;
  /** Replies until the next decrease: those in progress belong to the time before the last one. */
  #settling = 0;
  readonly #urgent: (() => void)[] = [];
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#most = most;
    this.#limit = Math.min(most, FIRST);
  }

  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** Runs the work when there is room for one more request; the urgent go first. */
  async inTurn<T>(urgent: boolean, work: () => Promise<T>): Promise<T> {
    if (this.#active < this.limit) this.#active++;
    else await new Promise<void>((resolve) => (urgent ? this.#urgent : this.#waiting).push(resolve));
    try {
      return await work();
    } finally {
      this.#active--;
      this.#admit();
    }
  }

  /** A reply arrived after this many ms. */
  answered(ms: number): void {
    if (this.#settling > 0) {
      this.#settling--;
      return;
    }
    this.#best = Math.min(this.#best, Math.max(ms, 1));
    this.#smoothed = this.#smoothed === undefined ? ms : this.#smoothed + WEIGHT * (ms - this.#smoothed);
    if (this.#smoothed > Math.max(SLOW_MS, this.#best * SLOW_FACTOR)) this.#lower(0.7);
    else this.#raise();
  }

  /** No reply, or one that shows that the service is not well. */
  failed(): void {
    if (this.#settling > 0) this.#settling--;
    else this.#lower(0.5);
  }

  #raise(): void {
    this.#limit = Math.min(this.#most, this.#limit + (this.#starting ? 1 : 1 / this.#limit));
    this.#admit();
  }

  #lower(factor: number): void {
    this.#settling = this.#active;
    this.#starting = false;
    this.#smoothed = undefined;
    this.#limit = Math.max(1, this.#limit * factor);
  }

  #admit(): void {
    while (this.#active < this.limit) {
      const next = this.#urgent.shift() ?? this.#waiting.shift();
      if (next === undefined) return;
      this.#active++;
      next();
    }
  }
}
