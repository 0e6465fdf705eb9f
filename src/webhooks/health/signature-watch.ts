import type { Clock } from '../../kernel/clock.ts';
import { durationInWords } from '../../kernel/duration.ts';
import { EVENTS } from '../../kernel/vocabulary.ts';
import type { Delivery } from '../receive/delivery.ts';
import { deliveriesWere } from '../receive/failures.ts';

/** The number of consecutive invalid deliveries that is reported. Anyone can forge a few, but not every delivery is a forgery. */
const MIN_FAILURES = 3;
/** Invalid deliveries are no longer counted after this long without another one. */
const FAILURE_WINDOW_MS = 3_600_000;

/** Detects that deliveries arrive from the service but none can be verified, because the secret is wrong or has changed. */
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

  /** The time of the last valid delivery, in ms since the epoch. */
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

  findProblem(): string | undefined {
    const now = this.#clock.now();
    const enough = this.#verifiedAt === undefined ? 1 : MIN_FAILURES;
    if (this.#refused < enough || Math.abs(now - this.#refusedAt) > FAILURE_WINDOW_MS) return undefined;
    const since = durationInWords(Math.max(0, now - (this.#verifiedAt ?? this.#startedAt)));
    return `No signature was valid for ${since}, and ${deliveriesWere(this.#refused)} refused: ${this.#why}.`;
  }
}

/** Returns true if the delivery looks like one from the service rather than a random request. */
function isOurs({ facts }: Delivery): boolean {
  return facts !== null && facts.envelopeId !== null && EVENTS.some((known) => known === facts.event);
}
