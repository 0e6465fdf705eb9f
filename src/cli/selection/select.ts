import type { Envelope } from '../../api/schemas.ts';
import { type Selection, selectEnvelopes } from '../../envelopes/select.ts';
import type { Context } from '../context.ts';
import { searchEnvelopes } from './search.ts';

export interface SelectOptions {
  /** The most that are wanted; all without it. */
  limit?: number | undefined;
  /** Of a list that needs no filtering here. */
  pageSize?: number | undefined;
}

/** The envelopes of a selection. Ask for the numbers after all envelopes were taken. */
export interface Selected {
  envelopes: AsyncIterable<Envelope>;
  /** How many there are in all; undefined where that isn't known. */
  total(): number | undefined;
  /** Whether there may be more than the limit. */
  hasMore(): boolean;
}

/**
 * Returns the envelopes that match all conditions, as they are now: from the index where signers or metadata decide, since it
 * asks for nothing twice that can't change; otherwise as the service lists them.
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

/** True where the items of a list may lack what decides. */
function needsIndex({ signer, search, metadata, run }: Selection): boolean {
  return [signer, search, metadata, run].some((condition) => condition !== undefined);
}
