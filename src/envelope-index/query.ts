import { READ_CONCURRENCY } from '../api/defaults.ts';
import type { Envelope } from '../api/schemas.ts';
import type { ServiceClock } from '../api/service-clock.ts';
import { type Selection, selectionFilter, signersMatchingAll } from '../envelopes/select.ts';
import { entryOf } from '../kernel/json.ts';
import { mapInOrder } from '../kernel/streams.ts';
import { folded, wordsOf } from '../kernel/text/words.ts';
import type { EnvelopeStatus } from '../kernel/vocabulary.ts';
import type { EnvelopeIndex, Refreshed, RefreshOptions } from './envelope-index.ts';
import type { OpenIndexFile } from './index-file.ts';
import { type IndexedEnvelope, type IndexQuery, isListCheaper, type Snapshot } from './snapshot.ts';

export interface IndexQueryOptions extends Pick<RefreshOptions, 'signal' | 'onProgress'> {
  limit?: number | undefined;
  /** Uses only the index, however old it is. */
  cached?: boolean | undefined;
  /** Puts envelopes in which one signer matches every word before those in which several signers share the words. */
  oneSignerFirst?: boolean | undefined;
}

/** The matching envelopes, newest first. */
export interface IndexResult {
  envelopes: AsyncGenerator<Envelope, void, undefined>;
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
  const { cached, signal, onProgress } = options;
  const askedAt = Date.now();
  const query = indexQueryOf(selection);
  const mayMatch = mayMatchNow(selection, index.client.serviceClock);
  const refreshOptions: RefreshOptions = { signal, onProgress, mayMatch };
  const hitsIn = ({ known, members }: Snapshot) => {
    const belongs = ({ id }: IndexedEnvelope) => members?.has(id) ?? true;
    const hits = [...known.values()]
      .filter((one) => one.hit && mayMatch(one) && belongs(one))
      .sort(newestFirst);
    return options.oneSignerFirst ? oneSignerFirst(hits, selection, index) : hits;
  };
  let reading: Refreshed = cached
    ? { snapshot: await index.known(query), unconfirmed: new Set() }
    : await index.refresh(query, refreshOptions);
  let hits = hitsIn(reading.snapshot);
  const freshness = { askedAt, unconfirmed: reading.unconfirmed };
  const outdated = hits.slice(0, options.limit).filter((one) => !isCurrent(one, freshness));
  if (!cached && isListCheaper(reading.snapshot, outdated.length, askedAt)) {
    reading = await index.readList(query, reading, refreshOptions);
    hits = hitsIn(reading.snapshot);
  }
  const result = resultOf(index, hits, freshness, selection, options);
  return { ...result, knownAt: reading.snapshot.completeness?.complete };
}

/** Returns true if the indexed envelope is up to date: it can't change anymore, or it was read after the query began. */
function isCurrent(hit: IndexedEnvelope, { askedAt, unconfirmed }: Freshness): boolean {
  if (unconfirmed.has(hit.id) || hit.touched) return false;
  return hit.known === 'final' || (hit.known === 'whole' && hit.seen >= askedAt);
}

/** Returns the texts to search the index for. Every match contains them. */
export function indexQueryOf({ search, signer, templateId, metadata = [], run }: Selection): IndexQuery {
  return {
    words: search === undefined ? [] : wordsOf(search),
    part: signer === undefined ? undefined : folded(signer),
    template: templateId === undefined ? undefined : folded(templateId),
    values: metadata.map(([, value]) => folded(value)).filter((value) => value !== ''),
    run,
  };
}

/** The statuses that can follow each status. DRAFT is missing, because any status can follow it. */
const NEXT: Readonly<Record<Exclude<EnvelopeStatus, 'DRAFT'>, readonly EnvelopeStatus[]>> = {
  COMPLETED: [],
  CANCELLED: [],
  EXPIRED: [],
  DECLINED: ['CANCELLED'],
  IN_PROGRESS: ['COMPLETED', 'CANCELLED', 'EXPIRED', 'DECLINED'],
  SENT: ['IN_PROGRESS', 'COMPLETED', 'CANCELLED', 'EXPIRED', 'DECLINED'],
};

/** Returns a filter by creation time and last known status: false if an envelope can't match anymore. */
export function mayMatchNow(
  { statuses, createdAfter, createdBefore }: Selection,
  serviceClock: Pick<ServiceClock, 'now'>,
) {
  return ({ status, created, touched }: IndexedEnvelope): boolean => {
    const time = serviceClock.now();
    if (createdAfter !== undefined && created < createdAfter(time)) return false;
    if (createdBefore !== undefined && created > createdBefore(time)) return false;
    if (statuses === undefined || touched || statuses.includes(status)) return true;
    const next = entryOf<readonly string[]>(NEXT, status);
    return next === undefined || next.some((one) => statuses.includes(one));
  };
}

/** Compares IDs if the times are equal, so that the order is always the same. */
function newestFirst(a: IndexedEnvelope, b: IndexedEnvelope): number {
  return (b.created || 0) - (a.created || 0) || (a.id < b.id ? 1 : -1);
}

/** A stable sort: envelopes in which one signer matches every word come first. */
function oneSignerFirst(
  hits: IndexedEnvelope[],
  { search }: Selection,
  index: EnvelopeIndex,
): IndexedEnvelope[] {
  const words = wordsOf(search ?? '');
  if (words.length < 2 || hits.length < 2) return hits;
  const file = index.file.open();
  try {
    const isOneSigner = (hit: IndexedEnvelope) => signersMatchingAll(file.envelope(hit), words).length > 0;
    const first = new Set(hits.filter(isOneSigner));
    return [...first, ...hits.filter((hit) => !first.has(hit))];
  } finally {
    file.close();
  }
}

/** When the query began, and the envelopes that may be missing from the service's list. */
interface Freshness {
  askedAt: number;
  unconfirmed: ReadonlySet<string>;
}

/** Returns the envelopes of the hits that still match, and how many there are. */
function resultOf(
  index: EnvelopeIndex,
  hits: readonly IndexedEnvelope[],
  freshness: Freshness,
  selection: Selection,
  { cached, signal, limit = Number.POSITIVE_INFINITY }: IndexQueryOptions,
): Omit<IndexResult, 'knownAt'> {
  let [shown, checked] = [0, 0];
  const hasMore = () => checked < hits.length;

  /** Returns the current envelope, or with `cached` the indexed one; undefined if it no longer exists. */
  async function read(hit: IndexedEnvelope, file: OpenIndexFile): Promise<Envelope | undefined> {
    const known = file.envelope(hit);
    if (cached) return known && hit.touched ? { ...known, status: hit.status } : known;
    if (known !== undefined && isCurrent(hit, freshness)) return known;
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
    const { search: _, run: __, ...rest } = selection;
    const isExact = Object.values(rest).every((value) => value === undefined);
    return isExact ? hits.length - (checked - shown) : undefined;
  }

  return { envelopes: envelopes(), total, hasMore };
}
