import type { Choices } from '../base/choices.ts';
import { ApiError } from '../base/errors.ts';
import { isoTime } from '../base/sandbox-clock.ts';
import type { StoreState } from '../store/state.ts';

/** The monthly quota (Limits): signers or envelopes per calendar month (UTC) and organization, counted at creation. */
export class Quota {
  readonly #state: StoreState;
  readonly #limit: number | undefined;
  readonly #choices: Choices;
  /** The places reserved for envelopes that are being created, so that two of them can't both use the last one. */
  readonly #reserved = new Map<string, number>();

  constructor(state: StoreState, limit: number | undefined, choices: Choices) {
    this.#choices = choices;
    this.#state = state;
    this.#limit = limit;
  }

  /** Reserves places until the returned function is called. Throws QUOTA_EXCEEDED if there are too few. */
  reserve(orgId: string, now: number, signers: number): () => void {
    const unit = this.#choices.rules['quota-counts'];
    const asked = unit === 'signers' ? signers : 1;
    const created = this.#state.createdIn(orgId, isoTime(now).slice(0, 7))[unit];
    const used = created + (this.#reserved.get(orgId) ?? 0);
    if (this.#limit !== undefined && used + asked > this.#limit)
      throw new ApiError(
        'QUOTA_EXCEEDED',
        `Monthly envelope limit reached: ${used} of ${this.#limit} ${unit} used, and ${asked} more requested`,
      );
    this.#add(orgId, asked);
    return () => this.#add(orgId, -asked);
  }

  #add(orgId: string, amount: number): void {
    this.#reserved.set(orgId, (this.#reserved.get(orgId) ?? 0) + amount);
  }
}
