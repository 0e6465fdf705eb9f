import type { Choices } from '../base/choices.ts';
import { ApiError } from '../base/errors.ts';
import { isoTime } from '../base/sandbox-clock.ts';
import type { StoreState } from '../store/state.ts';

/** The monthly quota (Limits): signers or envelopes per calendar month (UTC) and organisation, counted at creation. */
export class Quota {
  readonly #state: StoreState;
  readonly #limit: number | null;
  readonly #choices: Choices;
  /** Envelopes that are being created, so that two can't both take the last place. */
  readonly #reserved = new Map<string, number>();

  constructor(state: StoreState, limit: number | null, choices: Choices) {
    this.#choices = choices;
    this.#state = state;
    this.#limit = limit;
  }

  /** Throws QUOTA_EXCEEDED, or holds the places until the returned function is called. */
  reserve(orgId: string, now: number, signers: number): () => void {
    const unit = this.#choices.rules['quota-counts'];
    const asked = unit === 'signers' ? signers : 1;
    const created = this.#state.createdIn(orgId, isoTime(now).slice(0, 7))[unit];
    const used = created + (this.#reserved.get(orgId) ?? 0);
    if (this.#limit !== null && used + asked > this.#limit)
      throw new ApiError(
        'QUOTA_EXCEEDED',
        `Monthly envelope limit reached: ${used} of ${this.#limit} ${unit} used, ${asked} more asked for`,
      );
    this.#add(orgId, asked);
    return () => this.#add(orgId, -asked);
  }

  #add(orgId: string, amount: number): void {
    this.#reserved.set(orgId, (this.#reserved.get(orgId) ?? 0) + amount);
  }
}
