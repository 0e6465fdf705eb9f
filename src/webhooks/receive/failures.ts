import type { Clock } from '../../kernel/clock.ts';
import { grouped } from '../../kernel/duration.ts';
import { messageOf } from '../../kernel/errors.ts';

/** A sender may try again at once and without end: the same trouble is told so often at most. */
const EVERY_MS = 10_000;

/** Tells of deliveries that could not be taken and were answered 500, and when it is over. */
export class Failures {
  readonly #clock: Clock;
  readonly #warn: (message: string) => void;
  #toldAt = Number.NEGATIVE_INFINITY;
  #count = 0;
  #untold = 0;

  constructor(clock: Clock, warn: (message: string) => void) {
    this.#clock = clock;
    this.#warn = warn;
  }

  failed(error: unknown): void {
    this.#count++;
    this.#untold++;
    const now = this.#clock.now();
    // A clock that was set back must not silence it.
    if (Math.abs(now - this.#toldAt) < EVERY_MS) return;
    this.#warn(
      `${deliveriesWere(this.#untold)} answered 500, so that the sender tries again: ${messageOf(error)}`,
    );
    this.#toldAt = now;
    this.#untold = 0;
  }

  /** One was taken. */
  taken(): void {
    if (this.#count > 0)
      this.#warn(`Deliveries are taken again; ${deliveriesWere(this.#count)} answered 500.`);
    this.#count = 0;
    this.#untold = 0;
    this.#toldAt = Number.NEGATIVE_INFINITY;
  }

  /** Tells what is not told yet. */
  finish(): void {
    if (this.#untold > 0) this.#warn(`${deliveriesWere(this.#count)} answered 500.`);
    this.#untold = 0;
  }
}

/** `1 delivery was`, `3 deliveries were`: how a sentence begins. */
export function deliveriesWere(count: number): string {
  return count === 1 ? '1 delivery was' : `${grouped(count)} deliveries were`;
}
