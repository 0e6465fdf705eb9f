/** Initial limit of concurrent requests. It doubles with each round of successes until a request fails or responses slow down. */
const FIRST = 4;
/** Latencies up to this never count as slow, in ms. */
export const SLOW_MS = 1_000;
/** Above SLOW_MS, latency counts as slow when it exceeds the best one by this factor. */
const SLOW_FACTOR = 4;
const WEIGHT = 0.2;

/**
 * Limits the number of concurrent requests, between one and a maximum: additive increase while the service responds quickly,
 * multiplicative decrease when it fails or slows down.
 */
export class BulkPace {
  readonly #maxConcurrency: number;
  #limit: number;
  #active = 0;
  #starting = true;
  #best = Number.POSITIVE_INFINITY;
  #smoothed: number | undefined;
  /** Responses to ignore: their requests were sent before the last decrease. */
  #staleResponses = 0;
  readonly #urgent: (() => void)[] = [];
  readonly #waiting: (() => void)[] = [];

  constructor(maxConcurrency: number) {
    this.#maxConcurrency = maxConcurrency;
    this.#limit = Math.min(maxConcurrency, FIRST);
  }

  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** Runs the work as soon as there is room for another request. Urgent work goes first. */
  async run<T>(urgent: boolean, work: () => Promise<T>): Promise<T> {
    if (this.#active < this.limit) this.#active++;
    else await new Promise<void>((resolve) => (urgent ? this.#urgent : this.#waiting).push(resolve));
    try {
      return await work();
    } finally {
      this.#active--;
      this.#admit();
    }
  }

  /** Records a response that took this many ms. */
  recordResponse(ms: number): void {
    if (this.#staleResponses > 0) {
      this.#staleResponses--;
      return;
    }
    this.#best = Math.min(this.#best, Math.max(ms, 1));
    this.#smoothed = this.#smoothed === undefined ? ms : this.#smoothed + WEIGHT * (ms - this.#smoothed);
    if (this.#smoothed > Math.max(SLOW_MS, this.#best * SLOW_FACTOR)) this.#lower(0.7);
    else this.#raise();
  }

  /** Records a request without a response, or a response that shows a problem of the service. */
  failed(): void {
    if (this.#staleResponses > 0) this.#staleResponses--;
    else this.#lower(0.5);
  }

  #raise(): void {
    this.#limit = Math.min(this.#maxConcurrency, this.#limit + (this.#starting ? 1 : 1 / this.#limit));
    this.#admit();
  }

  #lower(factor: number): void {
    this.#staleResponses = this.#active;
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
