import { randomBytes } from 'node:crypto';
import type { Clock } from '../../kernel/clock.ts';
import { DAY_MS, grouped } from '../../kernel/duration.ts';
import type { Delivery } from './delivery.ts';
import { NO_PAYLOAD } from './payload.ts';

/** The number of refused deliveries recorded in full per day, about 17 MB at most. A wrong secret is noticed long before. */
const MAX_RECORDED_PER_DAY = 1_000;
const REPORT_INTERVAL_MS = 60_000;

/** Limits the disk space and output that refused deliveries take, because anyone can send them. */
export class RefusalBudget {
  readonly #clock: Clock;
  readonly #warn: (message: string) => void;
  #day = Number.NaN;
  #recorded = 0;
  #counted = 0;
  #countedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, warn: (message: string) => void) {
    this.#clock = clock;
    this.#warn = warn;
  }

  /**
   * Returns what to record for a refused delivery: the delivery itself while the day's budget lasts, then a count at most once a
   * minute, otherwise nothing.
   */
  admit(delivery: Delivery): Delivery | undefined {
    const now = this.#clock.now();
    const day = Math.floor(now / DAY_MS);
    if (day !== this.#day) [this.#day, this.#recorded] = [day, 0];
    if (this.#recorded < MAX_RECORDED_PER_DAY) {
      this.#recorded++;
      if (this.#recorded === MAX_RECORDED_PER_DAY)
        this.#warn(
          `${grouped(MAX_RECORDED_PER_DAY)} deliveries were refused today. For the rest of the day (UTC) only a count is recorded, once a minute.`,
        );
      return delivery;
    }
    this.#counted++;
    // If the clock was set back, counts must still be recorded.
    return Math.abs(now - this.#countedAt) < REPORT_INTERVAL_MS ? undefined : this.rest();
  }

  /** Returns a record of the deliveries counted since the last record, if there are any. */
  rest(): Delivery | undefined {
    if (this.#counted === 0) return undefined;
    const now = this.#clock.now();
    const reason = `only counted: ${grouped(this.#counted)} more refused`;
    [this.#counted, this.#countedAt] = [0, now];
    return {
      ...NO_PAYLOAD,
      deliveryId: `dlv_${randomBytes(9).toString('hex')}`,
      receivedAt: new Date(now).toISOString(),
      verified: false,
      duplicate: false,
      reason,
      answer: 401,
      raw: Buffer.alloc(0),
      bytes: 0,
      headers: [],
    };
  }
}
