import { ApiError } from '../base/errors.ts';
import { isoTime } from '../base/sandbox-clock.ts';
import type { StoreState } from '../store/state.ts';

/** Reserves an envelope until the returned function is called. Throws QUOTA_EXCEEDED if there is no room. */
export type ReserveQuota = (orgId: string, now: number) => () => void;

/** The monthly quota (Limits): envelopes per calendar month (UTC) and organization, counted at creation. */
export function monthlyQuota(state: StoreState, limit: number | undefined): ReserveQuota {
  /** The envelopes that are being created, so that two of them can't both be the last one. */
  const reservedBy = new Map<string, number>();
  const add = (orgId: string, amount: number) => reservedBy.set(orgId, (reservedBy.get(orgId) ?? 0) + amount);
  return (orgId, now) => {
    const used = state.createdIn(orgId, isoTime(now).slice(0, 7)) + (reservedBy.get(orgId) ?? 0);
    if (limit !== undefined && used >= limit)
      throw new ApiError(
        'QUOTA_EXCEEDED',
        `Monthly envelope limit reached: ${used} of ${limit} envelopes used`,
      );
    add(orgId, 1);
    return () => add(orgId, -1);
  };
}
