import type { Clock } from '../../kernel/clock.ts';
import { durationInWords } from '../../kernel/duration.ts';
import { EVENTS } from '../../kernel/vocabulary.ts';
import type { Delivery } from '../receive/delivery.ts';
import { deliveriesWere } from '../receive/failures.ts';

/** Anyone can forge a delivery, but this many in a row without a valid one are not forgeries. */
const IN_A_ROW = 3;
/** They stop counting if none arrived for this long. */
const COUNTS_MS = 3_600_000;

/** Detects that deliveries of the service arrive but none can be verified: the secret is wrong or has changed. */
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

  /** Time of the last valid one, in ms since the epoch. */
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
    return `No signature was valid for ${since}, and ${deliveriesWere(this.#refused)} refused: ${this.#why}.`;
  }
}

/** True if it looks like one of the service's deliveries, unlike random requests. */
function isOurs({ facts }: Delivery): boolean {
  return facts !== null && facts.envelopeId !== null && EVENTS.some((known) => known === facts.event);
}
