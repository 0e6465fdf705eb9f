import type { Client } from '../../api/client.ts';
import type { Envelope } from '../../api/resource-types.ts';
import { isTerminal } from '../../kernel/statuses.ts';
import { type Selection, selectionFilter } from '../selection.ts';
import { EnvelopeIndex, type UpdateOptions } from './envelope-index.ts';
import type { IndexWriter } from './index-writer.ts';
import type { IndexedEnvelope } from './snapshot.ts';

/** An account with an index of its envelopes. */
export interface IndexedAccount {
  client: Client;
  writer: IndexWriter;
}

export interface FindOptions {
  limit?: number | undefined;
  /** Uses only the stored index, however old it is. */
  cached?: boolean | undefined;
  /** Discards the index first, and reads every envelope from the service. */
  refresh?: boolean | undefined;
  /** Puts envelopes in which one signer matches every word before those in which several signers share the words. */
  oneSignerFirst?: boolean | undefined;
}

/** The matching envelopes, newest first. */
export interface SearchResult {
  envelopes: AsyncIterable<Envelope>;
  /** Returns the number of matches without the limit; undefined if only reading each one would show it. Call it after the last envelope. */
  total(): number | undefined;
  /** Returns true if there may be more than the limit allowed. */
  hasMore(): boolean;
  /** When the index was last complete, in ms; undefined if it never was. */
  knownAt: number | undefined;
}

/**
 * Finds the envelopes of a selection in the index. Unless `cached`, each match that can still change is requested again, and no
 * more than `limit` of them.
 * @throws IndexUnusable if the index can't be used and the envelopes have to be read from the service.
 */
export async function searchIndex(
  account: IndexedAccount,
  selection: Selection,
  { limit, cached, refresh, oneSignerFirst, ...running }: FindOptions & UpdateOptions,
): Promise<SearchResult> {
  const { writer } = account;
  if (refresh) writer.clear();
  const isCached = cached && writer.store.isKept;
  const index = await EnvelopeIndex.open(account, selection, running);
  const ranked = () => {
    const hits = index.hits();
    if (!oneSignerFirst) return hits;
    return [...hits.filter((one) => one.isOneSigner), ...hits.filter((one) => !one.isOneSigner)];
  };
  if (!isCached) await index.update(() => ranked().slice(0, limit));
  const hits = ranked();
  const hasMore = limit !== undefined && hits.length > limit;
  // Beyond the limit, envelopes may have left the status since they were read.
  const isExact = !hasMore || (selection.statuses ?? selection.expiresBefore) === undefined;
  return {
    envelopes: index.stored(hits.slice(0, limit), { cached: isCached }),
    total: () => (isExact ? hits.length : undefined),
    hasMore: () => hasMore,
    knownAt: index.snapshot.completeness?.complete,
  };
}

/**
 * Returns those of the envelopes that can't change anymore, after comparing the index with the list: none of them is requested.
 * Without a complete index, it is empty.
 * @throws IndexUnusable
 */
export async function finalEnvelopes(
  account: IndexedAccount,
  ids: readonly string[],
  running: UpdateOptions,
): Promise<Map<string, Envelope>> {
  const found = new Map<string, Envelope>();
  const index = await EnvelopeIndex.open(account, {}, running);
  if (index.snapshot.completeness === undefined) return found;
  await index.update(() => []);
  const entries = ids.flatMap((id) => index.snapshot.known.get(id) ?? []);
  const final = entries.filter((one) => one.known === 'final' && index.isCurrent(one));
  for await (const envelope of index.stored(final)) found.set(envelope.id, envelope);
  return found;
}

/** Yields the envelopes of the index as it knows them, without a request. A missing index is empty. */
export async function* storedEnvelopes(account: IndexedAccount): AsyncGenerator<Envelope, void, undefined> {
  const index = await EnvelopeIndex.open(account, {});
  yield* index.stored(index.snapshot.known.values(), { cached: true });
}

/** The envelopes of an account, and a test for the selected ones. */
export interface AccountEnvelopes {
  envelopes: AsyncIterable<Envelope> | Iterable<Envelope>;
  isSelected: (envelope: Envelope) => boolean;
}

/**
 * Returns all envelopes of the account, after reading new ones and the selected ones that are still active. A declined envelope
 * is not read again: it may have been canceled since, but it was declined.
 * @throws IndexUnusable
 */
export async function accountEnvelopes(
  account: IndexedAccount,
  selection: Selection,
  running: UpdateOptions,
): Promise<AccountEnvelopes> {
  const index = await EnvelopeIndex.open(account, selection, running);
  await index.update(() => {
    const isHit = index.hitFilter();
    const isToRead = (one: IndexedEnvelope) =>
      one.known === 'part' || ((one.hasChanged || !isTerminal(one.status)) && isHit(one));
    return [...index.snapshot.known.values()].filter(isToRead);
  });
  const { members, known } = index.snapshot;
  const matches = selectionFilter(selection, account.client.serviceClock.now());
  const isSelected = (one: Envelope) => (members?.has(one.id) ?? true) && matches(one);
  return { envelopes: index.stored(known.values()), isSelected };
}
