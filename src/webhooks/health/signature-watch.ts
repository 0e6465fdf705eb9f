import type { Clock } from '../../kernel/clock.ts';
import { durationInWords } from '../../kernel/duration.ts';
import { EVENTS } from '../../kernel/vocabulary.ts';
import type { Delivery } from '../receive/delivery.ts';
import { deliveriesWere } from '../receive/failures.ts';

/** Anybody may forge one now and then: so many in a row, with none that is good between them, are no forgeries. */
const IN_A_ROW = 3;
/** They say nothing any more when so long none came. */
const COUNTS_MS = 3_600_000;

/** Whether deliveries of the service come, and none of them can be verified: a secret that is not, or no more, the right one. */
export class SignatureWatch {
  readonly #clock: Clock;
  readonly #startedAt: number;
  #verifiedAt: number | undefined;
  #refused = 0;
  #refusedAt = Number.NEGATIVE_INFINITY;
  #why = '';

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedAt = clock.now();
  }

  /** When the last good one came, in ms since the epoch. */
  get verifiedAt(): number | undefined {
    return this.#verifiedAt;
  }

  take(delivery: Delivery): void {
    if (delivery.verified) {
      this.#verifiedAt = this.#clock.now();
      this.#refused = 0;
    } else if (delivery.answer === 401 && isOurs(delivery)) {
      this.#refused++;
      this.#refusedAt = this.#clock.now();
      this.#why = delivery.reason ?? '';
    }
  }

  trouble(): string | undefined {
    const now = this.#clock.now();
    const enough = this.#verifiedAt === undefined ? 1 : IN_A_ROW;
    if (this.#refused < enough || Math.abs(now - this.#refusedAt) > COUNTS_MS) return undefined;
    const since = durationInWords(Math.max(0, now - (this.#verifiedAt ?? this.#startedAt)));
    return `Nothing was verified for ${since}, and ${deliveriesWere(this.#refused)} refused: ${this.#why}.`;
  }
}

/** It looks like one of the service; what others try at random does not. */
function isOurs({ facts }: Delivery): boolean {
  return facts !== null && facts.envelopeId !== null && EVENTS.some((known) => known === facts.event);
}
