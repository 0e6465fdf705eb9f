/**
 * How many rows are on their way at once: one more after each round of good replies, half after a failure, a little less
 * when replies take much longer than the best ones (additive increase, multiplicative decrease).
 */
export class Pace {
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #limit: number;
  #active = 0;
  #best = Number.POSITIVE_INFINITY;

  constructor(most: number) {
    this.#most = most;
    this.#limit = Math.min(4, most);
  }

  /** How many may be on their way now. */
  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** Resolves when one more may start. */
  enter(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#admit();
    });
  }

  /** One has ended. */
  leave(): void {
    this.#active--;
    this.#admit();
  }

  /** A reply took so many ms; `ok` is false when the service or the network failed. */
  note(ms: number, ok: boolean): void {
    this.#best = Math.min(this.#best, ms);
    const slow = ms > 8 * this.#best + 200;
    if (!ok) this.#limit = Math.max(1, this.#limit / 2);
    else if (slow) this.#limit = Math.max(1, this.#limit * 0.95);
    else this.#limit = Math.min(this.#most, this.#limit + 1 / this.#limit);
    this.#admit();
  }

  #admit(): void {
    while (this.#active < this.limit) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#active++;
      next();
    }
  }
}
