import type { Envelope } from '../api/resource-types.ts';
import { IndexUnusable, type UpdateOptions } from '../catalog/index/envelope-index.ts';
import { IndexWriter } from '../catalog/index/index-writer.ts';
import { MemoryStore } from '../catalog/index/memory-store.ts';
import {
  type AccountEnvelopes,
  accountEnvelopes,
  type FindOptions,
  finalEnvelopes,
  type IndexedAccount,
  type SearchResult,
  searchIndex,
} from '../catalog/index/search-index.ts';
import { listMatching } from '../catalog/list-matching.ts';
import { isUnfiltered, type Selection } from '../catalog/selection.ts';
import { type LimitFlags, withLimit } from '../cli/input/limit-flags.ts';
import type { Context } from '../cli/session/context.ts';
import { diskReason, isDiskError } from '../kernel/files/disk-reason.ts';
import { stateDir } from '../kernel/files/paths.ts';
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
  const envelopes = listMatching(await context.session.client(), selection, {
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

/** Finds the matching envelopes, newest first: in the index, which is updated first. */
export function searchEnvelopes(
  selection: Selection,
  options: FindOptions,
  context: Context,
): Promise<SearchResult> {
  return inIndex((account, running) => searchIndex(account, selection, { ...options, ...running }), context);
}

/** Returns all envelopes of the account. */
export function readAccount(selection: Selection, context: Context): Promise<AccountEnvelopes> {
  return inIndex((account, running) => accountEnvelopes(account, selection, running), context);
}

/** Requesting this many envelopes takes fewer requests than comparing the index with the list. */
const FEW = 5;

/** Returns those of the envelopes that can't change anymore, as far as the index knows them. */
export async function knownEnvelopes(
  ids: readonly string[],
  context: Context,
): Promise<ReadonlyMap<string, Envelope>> {
  if (ids.length <= FEW) return new Map();
  return inIndex((account, running) => finalEnvelopes(account, ids, running), context);
}

/**
 * Reads from the index and shows the progress. If it is disabled or can't be used, which a notice shows, the command builds one in
 * memory.
 */
async function inIndex<T>(
  read: (account: IndexedAccount, running: UpdateOptions) => Promise<T>,
  context: Context,
): Promise<T> {
  const { session, interrupt, terminal } = context;
  const inMemory = async () => ({
    client: await session.client(),
    writer: new IndexWriter(new MemoryStore()),
  });
  const stored = await session.indexedAccount();
  const line = new IndexProgressLine(context);
  const running: UpdateOptions = {
    signal: interrupt.signal,
    onProgress: (progress) => line.show(progress),
  };
  try {
    return await read(stored ?? (await inMemory()), running);
  } catch (error) {
    const why = stored && unusableReason(error);
    if (why === undefined) throw error;
    await line.stop();
    terminal.notice(`${why}. Reading all envelopes from the service.`);
    return await read(await inMemory(), running);
  } finally {
    await line.stop();
  }
}

/** Returns why the index can't be used, or undefined for other errors. Searches also work if the index can't be stored. */
function unusableReason(error: unknown): string | undefined {
  if (error instanceof IndexUnusable) return error.message;
  return isDiskError(error) ? `The index can't be stored in ${stateDir()} (${diskReason(error)})` : undefined;
}
