import type { Clock } from '../../kernel/clock.ts';
import { grouped } from '../../kernel/duration.ts';
import { messageOf } from '../../kernel/errors.ts';

/** The minimum time between two reports, because a sender may retry immediately and endlessly. */
const REPORT_INTERVAL_MS = 10_000;

/** Reports deliveries that couldn't be stored and got a 500, and reports when storing works again. */
export class FailureReports {
  readonly #clock: Clock;
  readonly #warn: (message: string) => void;
  #toldAt = Number.NEGATIVE_INFINITY;
  #count = 0;
  #unreported = 0;

  constructor(clock: Clock, warn: (message: string) => void) {
    this.#clock = clock;
    this.#warn = warn;
  }

  failed(error: unknown): void {
    this.#count++;
    this.#unreported++;
    const now = this.#clock.now();
    // If the clock was set back, failures must still be reported.
    if (Math.abs(now - this.#toldAt) < REPORT_INTERVAL_MS) return;
    this.#warn(
      `${deliveriesText(this.#unreported)} rejected with 500, so that the sender retries: ${messageOf(error)}`,
    );
    this.#toldAt = now;
    this.#unreported = 0;
  }

  /** Records that a delivery was stored. */
  succeeded(): void {
    if (this.#count > 0)
      this.#warn(
        `Deliveries are being stored again. In the meantime, ${deliveriesText(this.#count)} rejected with 500.`,
      );
    this.#count = 0;
    this.#unreported = 0;
    this.#toldAt = Number.NEGATIVE_INFINITY;
  }

  /** Reports the remaining failures. */
  finish(): void {
    if (this.#unreported > 0) this.#warn(`${deliveriesText(this.#count)} rejected with 500.`);
    this.#unreported = 0;
  }
}

/** Returns the beginning of a sentence, such as `1 delivery was` or `3 deliveries were`. */
export function deliveriesText(count: number): string {
  return count === 1 ? '1 delivery was' : `${grouped(count)} deliveries were`;
}
