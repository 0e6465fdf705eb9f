import type { Envelope } from '../api/resource-types.ts';
import { completeItems } from '../catalog/envelope-list.ts';
import { IndexUnusable, type UpdateOptions } from '../catalog/index/envelope-index.ts';
import {
  type AccountEnvelopes,
  accountEnvelopes,
  type FindOptions,
  finalEnvelopes,
  type IndexedAccount,
  type SearchResult,
  searchIndex,
} from '../catalog/index/query.ts';
import { isWholeItem } from '../catalog/match.ts';
import { RunMembers } from '../catalog/run-members.ts';
import { bestMatches, selectEnvelopes } from '../catalog/select.ts';
import { isUnfiltered, type Selection, selectionFilter } from '../catalog/selection.ts';
import { type LimitFlags, withLimit } from '../cli/input/limit-flags.ts';
import type { Context } from '../cli/session/context.ts';
import { timeOf } from '../kernel/clock.ts';
import { diskReason, isDiskError } from '../kernel/files/disk-reason.ts';
import { stateDir } from '../kernel/files/paths.ts';
import { startReading } from '../kernel/streams.ts';
import { IndexProgressLine } from './index-progress.ts';

/** The envelopes of a selection. Call `total` and `hasMore` after iterating over all envelopes. */
export type SelectedEnvelopes = Omit<SearchResult, 'knownAt'>;

/**
 * Returns the envelopes that match all conditions, in their current state: all of them or, with flags, no more than their limit.
 * If signers or metadata matter, they are read through the index, which never reads unchangeable data twice; otherwise from the
 * service's list.
 */
export async function readSelected(
  selection: Selection,
  context: Context,
  flags: LimitFlags = { all: true },
): Promise<SelectedEnvelopes> {
  if (needsIndex(selection)) return searchEnvelopes(selection, { limit: withLimit.maxItems(flags) }, context);
  let total: number | undefined;
  const envelopes = selectEnvelopes(await context.session.client(), selection, {
    pageSize: withLimit.pageSize(flags, isUnfiltered(selection)),
    onTotal: (known) => {
      total = known;
    },
    signal: context.interrupt.signal,
  });
  return { envelopes, total: () => total, hasMore: () => false };
}

/** Returns true if the items of a list may lack the data to filter by. */
function needsIndex({ signer, words, metadata, run }: Selection): boolean {
  return [signer, words, metadata, run].some((condition) => condition !== undefined);
}

/** Finds the matching envelopes, newest first: in the index, which is updated first, or if it is disabled, in the service. */
export async function searchEnvelopes(
  selection: Selection,
  options: FindOptions,
  context: Context,
): Promise<SearchResult> {
  const found = await fromIndex(
    (account, running) => searchIndex(account, selection, { ...options, ...running }),
    context,
  );
  if (found !== undefined) return found;
  const client = await context.session.client();
  const matches = selectEnvelopes(client, selection, { signal: context.interrupt.signal });
  const { best, total } = await bestMatches(matches, selection, options);
  async function* each() {
    yield* best;
  }
  return {
    envelopes: each(),
    total: () => total,
    hasMore: () => total > best.length,
    knownAt: Date.now(),
  };
}

/** Returns all envelopes of the account, from the index or, if it is disabled, from the service. */
export async function readAccount(selection: Selection, context: Context): Promise<AccountEnvelopes> {
  const known = await fromIndex((account, running) => accountEnvelopes(account, selection, running), context);
  if (known !== undefined) return known;
  const { session, interrupt } = context;
  const client = await session.client();
  const { signal } = interrupt;
  const { run } = selection;
  const items = completeItems(client, client.envelopes.list({ signal }), isWholeItem, signal);
  if (run === undefined) {
    const envelopes = await startReading(items);
    // The first response has set the service's clock.
    return { envelopes, isSelected: selectionFilter(selection, session.now()) };
  }
  const members = new RunMembers(run);
  const envelopes: Envelope[] = [];
  for await (const one of items) {
    envelopes.push(one);
    members.add(one.id, timeOf(one.createdAt), one.metadata);
  }
  const matches = selectionFilter(selection, session.now());
  return { envelopes, isSelected: (one) => members.has(one.id) && matches(one) };
}

/** Requesting this many envelopes takes fewer requests than comparing the index with the list. */
const FEW = 5;

/** Returns those of the envelopes that can't change anymore, as far as the index knows them. */
export async function knownEnvelopes(
  ids: readonly string[],
  context: Context,
): Promise<ReadonlyMap<string, Envelope>> {
  if (ids.length <= FEW) return new Map();
  const found = await fromIndex((account, running) => finalEnvelopes(account, ids, running), context);
  return found ?? new Map();
}

/** Reads from the index and shows the progress. Returns undefined if the index is disabled or can't be used, which a notice shows. */
async function fromIndex<T extends object>(
  read: (account: IndexedAccount, running: UpdateOptions) => Promise<T>,
  context: Context,
): Promise<T | undefined> {
  const { session, interrupt, terminal } = context;
  const account = await session.indexedAccount();
  if (account === undefined) return undefined;
  const line = new IndexProgressLine(context);
  try {
    return await read(account, { signal: interrupt.signal, onProgress: (progress) => line.show(progress) });
  } catch (error) {
    const why = unusableReason(error);
    if (why === undefined) throw error;
    await line.stop();
    terminal.notice(`${why}. Reading all envelopes from the service.`);
    return undefined;
  } finally {
    await line.stop();
  }
}

/** Returns why the index can't be used, or undefined for other errors. Searches also work if the index can't be stored. */
function unusableReason(error: unknown): string | undefined {
  if (error instanceof IndexUnusable) return error.message;
  return isDiskError(error) ? `The index can't be stored in ${stateDir()} (${diskReason(error)})` : undefined;
}
