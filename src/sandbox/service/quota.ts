import { ApiError } from './errors.ts';
import { isoTime } from './sandbox-clock.ts';
import type { State } from './state.ts';

/** The monthly quota (Limits): signers per calendar month (UTC) and organisation, counted at creation. */
export class Quota {
  readonly #state: State;
  readonly #limit: number | null;
  /** Signers of envelopes being created, so that two at once cannot both take the last place. */
  readonly #reserved = new Map<string, number>();

  constructor(state: State, limit: number | null) {
    this.#state = state;
    this.#limit = limit;
  }

  /** Throws QUOTA_EXCEEDED, or holds the places until the returned function is called. */
  reserve(orgId: string, now: number, signers: number): () => void {
    const used = this.#state.signersIn(orgId, isoTime(now).slice(0, 7)) + (this.#reserved.get(orgId) ?? 0);
    if (this.#limit !== null && used + signers > this.#limit)
      throw new ApiError(
        'QUOTA_EXCEEDED',
        `Monthly envelope limit reached: ${used} of ${this.#limit} signers used, ${signers} more asked for`,
      );
    this.#add(orgId, signers);
    return () => this.#add(orgId, -signers);
  }

  #add(orgId: string, signers: number): void {
    this.#reserved.set(orgId, (this.#reserved.get(orgId) ?? 0) + signers);
  }
}
