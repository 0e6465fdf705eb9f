import { READ_CONCURRENCY } from '../../api/limits.ts';
import type { Envelope } from '../../api/schemas.ts';
import { mapInOrder } from '../../kernel/streams.ts';
import { oneSignerFilter, type Selection, selectionFilter } from '../select.ts';
import type { EnvelopeIndex, Refreshed, RefreshOptions } from './envelope-index.ts';
import type { OpenIndexFile } from './index-file.ts';
import type { IndexedEnvelope } from './snapshot.ts';

export interface IndexQueryOptions extends Pick<RefreshOptions, 'signal' | 'onProgress'> {
  limit?: number | undefined;
  /** Uses only the index, however old it is. */
  cached?: boolean | undefined;
  /** Discards the index first, and reads every envelope from the service. */
  refresh?: boolean | undefined;
  /** Puts envelopes in which one signer matches every word before those in which several signers share the words. */
  oneSignerFirst?: boolean | undefined;
}

/** The matching envelopes, newest first. */
export interface IndexResult {
  envelopes: AsyncIterable<Envelope>;
  /** Returns the number of matches without the limit; undefined if only reading each one would show it. Call it after the last envelope. */
  total(): number | undefined;
  /** Returns true if there may be more than the limit allowed. */
  hasMore(): boolean;
  /** When the index was last complete, in ms; undefined if it never was. */
  knownAt: number | undefined;
}

/**
 * Finds the envelopes of a selection in the index. Unless `cached`, each match that can still change is requested again before
 * it is returned, and no more than `limit` of them.
 * @throws IndexUnusable if the index can't be used and the envelopes have to be read from the service.
 */
export async function queryIndex(
  index: EnvelopeIndex,
  selection: Selection,
  options: IndexQueryOptions,
): Promise<IndexResult> {
  const { cached, limit, signal, onProgress } = options;
  if (options.refresh) await index.clear();
  const isOneSigner = options.oneSignerFirst ? oneSignerFilter(selection) : undefined;
  const { serviceClock } = index.client;
  const hitsIn = ({ snapshot }: Refreshed) => snapshot.hits(serviceClock.now());
  const outdated = (refreshed: Refreshed) =>
    hitsIn(refreshed)
      .slice(0, limit)
      .filter((one) => !isCurrent(one, refreshed));
  const refreshed = cached
    ? { snapshot: await index.known(selection), askedAt: Date.now(), unconfirmed: new Set<string>() }
    : await index.refresh(selection, { signal, onProgress, outdated });
  const found = hitsIn(refreshed);
  const hits = isOneSigner && found.length > 1 ? matchesFirst(found, isOneSigner, index) : found;
  const result = resultOf(index, hits, refreshed, selection, options);
  return { ...result, knownAt: refreshed.snapshot.completeness?.complete };
}

/** Returns true if the indexed envelope is up to date: it can't change anymore, or it was read after the query began. */
function isCurrent(hit: IndexedEnvelope, { askedAt, unconfirmed }: Refreshed): boolean {
  if (unconfirmed.has(hit.id)) return false;
  return hit.known === 'final' || (hit.known === 'whole' && hit.seen >= askedAt);
}

/** A stable sort: the envelopes that match come first. */
function matchesFirst(
  hits: readonly IndexedEnvelope[],
  matches: (envelope: Envelope | undefined) => boolean,
  index: EnvelopeIndex,
): IndexedEnvelope[] {
  const file = index.file.open();
  try {
    const first = new Set(hits.filter((hit) => matches(file.envelope(hit))));
    return [...first, ...hits.filter((hit) => !first.has(hit))];
  } finally {
    file.close();
  }
}

/** Returns the envelopes of the hits that still match, and how many there are. */
function resultOf(
  index: EnvelopeIndex,
  hits: readonly IndexedEnvelope[],
  refreshed: Refreshed,
  selection: Selection,
  { cached, signal, limit = Number.POSITIVE_INFINITY }: IndexQueryOptions,
): Omit<IndexResult, 'knownAt'> {
  let [shown, checked] = [0, 0];
  const hasMore = () => checked < hits.length;

  /** Returns the current envelope, or with `cached` the indexed one; undefined if it no longer exists. */
  async function read(hit: IndexedEnvelope, file: OpenIndexFile): Promise<Envelope | undefined> {
    const known = file.envelope(hit);
    if (cached) return known;
    if (known !== undefined && isCurrent(hit, refreshed)) return known;
    return index.current(hit.id, signal);
  }

  async function* envelopes(): AsyncGenerator<Envelope, void, undefined> {
    if (hits.length === 0) return;
    const { serviceClock } = index.client;
    // The hits already belong to the run, including those that replaced one of its envelopes.
    const conditions = { ...selection, run: undefined };
    const file = index.file.open();
    try {
      while (hasMore() && shown < limit) {
        // Requests no more than the limit needs.
        const some = hits.slice(checked, checked + limit - shown);
        for await (const one of mapInOrder(some, READ_CONCURRENCY, (hit) => read(hit, file))) {
          checked++;
          if (one === undefined || !selectionFilter(conditions, serviceClock.now())(one)) continue;
          shown++;
          yield one;
        }
      }
    } finally {
      file.close();
    }
  }

  function total(): number | undefined {
    if (!hasMore()) return shown;
    const { words: _, run: __, ...rest } = selection;
    const isExact = Object.values(rest).every((value) => value === undefined);
    return isExact ? hits.length - (checked - shown) : undefined;
  }

  return { envelopes: envelopes(), total, hasMore };
}
