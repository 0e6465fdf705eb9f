import type { Choices } from '../base/choices.ts';
import { ApiError } from '../base/errors.ts';
import { isoTime } from '../base/sandbox-clock.ts';
import type { StoreState } from '../store/state.ts';

/** Reserves places until the returned function is called. Throws QUOTA_EXCEEDED if there are too few. */
export type ReserveQuota = (orgId: string, now: number, signers: number) => () => void;

/** The monthly quota (Limits): signers or envelopes per calendar month (UTC) and organization, counted at creation. */
export function monthlyQuota(state: StoreState, limit: number | undefined, choices: Choices): ReserveQuota {
  /** The places reserved for envelopes that are being created, so that two of them can't both use the last one. */
  const reservedBy = new Map<string, number>();
  const add = (orgId: string, amount: number) => reservedBy.set(orgId, (reservedBy.get(orgId) ?? 0) + amount);
  return (orgId, now, signers) => {
    const unit = choices.rules['quota-counts'];
    const asked = unit === 'signers' ? signers : 1;
    const used = state.createdIn(orgId, isoTime(now).slice(0, 7))[unit] + (reservedBy.get(orgId) ?? 0);
    if (limit !== undefined && used + asked > limit)
      throw new ApiError(
        'QUOTA_EXCEEDED',
        `Monthly envelope limit reached: ${used} of ${limit} ${unit} used, and ${asked} more requested`,
      );
    add(orgId, asked);
    return () => add(orgId, -asked);
  };
}
