import type { Envelope } from '../../api/schemas.ts';
import { isUnfiltered, type Selection, selectEnvelopes } from '../../envelopes/select.ts';
import type { Context } from '../context.ts';
import { type LimitFlags, limited } from '../input/limit.ts';
import { searchEnvelopes } from './search.ts';

export interface SelectOptions {
  /** The maximum number of envelopes. All if undefined. */
  limit?: number | undefined;
  /** The page size for a list that is not filtered locally. */
  pageSize?: number | undefined;
}

/** The envelopes of a selection. Call `total` and `hasMore` after iterating over all envelopes. */
export interface Selected {
  envelopes: AsyncIterable<Envelope>;
  /** Returns the number of all envelopes, or undefined if it isn't known. */
  total(): number | undefined;
  /** Returns true if there may be more than the limit. */
  hasMore(): boolean;
}

/**
 * Returns the envelopes that match all conditions, in their current state. If signers or metadata matter, they are read through
 * the index, which never reads unchangeable data twice; otherwise from the service's list.
 */
export async function select(
  selection: Selection,
  options: SelectOptions,
  context: Context,
): Promise<Selected> {
  if (needsIndex(selection)) return searchEnvelopes(selection, { limit: options.limit }, context);
  let total: number | undefined;
  const envelopes = selectEnvelopes(await context.session.client(), selection, {
    pageSize: options.pageSize,
    onTotal: (known) => {
      total = known;
    },
    signal: context.interrupt.signal,
  });
  return { envelopes, total: () => total, hasMore: () => false };
}

/** Selects the envelopes of a list: no more than the limit, unless they have to be sorted. */
export function selectLimited(
  selection: Selection,
  flags: LimitFlags & { sort?: string | undefined },
  context: Context,
): Promise<Selected> {
  const isSorted = flags.sort !== undefined;
  const options = {
    limit: isSorted ? undefined : limited.maxItems(flags),
    pageSize: limited.pageSize(flags, isUnfiltered(selection) && !isSorted),
  };
  return select(selection, options, context);
}

/** Returns true if the items of a list may lack the data to filter by. */
function needsIndex({ signer, search, metadata, run }: Selection): boolean {
  return [signer, search, metadata, run].some((condition) => condition !== undefined);
}
