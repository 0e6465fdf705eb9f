import type { Client } from '../api/client.ts';
import { READ_CONCURRENCY } from '../api/limits.ts';
import type { Envelope } from '../api/schemas.ts';
import { CLOCK_SLACK_MS } from '../api/service-clock.ts';
import { timeOf } from '../kernel/clock.ts';
import { ifFound } from '../kernel/errors.ts';
import { showsMarker } from './markers.ts';

/** Options for reading the envelopes that carry markers of esign. */
export interface MarkedEnvelopesOptions {
  signal?: AbortSignal | undefined;
  /**
   * Leaves out envelopes created before this time (ms, by the service's clock; called after the first response) if the list shows
   * times. Don't use this machine's clock before a create: it may be wrong.
   */
  since?: (() => number) | undefined;
  /** Envelopes that were already read. The walk adds each one it reads, so that the next walk skips it. */
  known?: Set<string> | undefined;
  /** Counts what was read: all envelopes, and those with a marker. Without any marker, the service may show none. */
  evidence?: { items: number; marked: number } | undefined;
}

/**
 * Yields every envelope that carries a marker (request ID, run, row, or the envelope it replaces) once, with its metadata.
 *
 * A list item that shows no marker is completed with a GET: services may leave metadata out of their lists, or show it as
 * null or empty. An item's template is ignored. If the list shows markers of another envelope, an item without one is taken as
 * unmarked once it is ten minutes old. Otherwise, each walk would read every envelope that was created without esign.
 */
export async function* markedEnvelopes(
  client: Client,
  walk: MarkedEnvelopesOptions = {},
): AsyncGenerator<Envelope, void, undefined> {
  const { signal, known = new Set(), evidence = { items: 0, marked: 0 } } = walk;
  const unmarked: Pick<Envelope, 'id' | 'metadata' | 'createdAt'>[] = [];
  let listShowsMarkers = false;
  for await (const item of itemsOf(client, walk)) {
    const { id, metadata, createdAt } = item;
    evidence.items++;
    if (showsMarker(item)) {
      evidence.marked++;
      listShowsMarkers = true;
      yield item;
    } else if (!known.has(id)) unmarked.push({ id, metadata, createdAt });
  }
  const believedBefore = listShowsMarkers
    ? client.serviceClock.now() - CLOCK_SLACK_MS
    : Number.NEGATIVE_INFINITY;
  const unknown = unmarked.filter(
    ({ metadata, createdAt }) => metadata === undefined || !(timeOf(createdAt) < believedBefore),
  );
  for await (const envelope of readAll(client, unknown, signal)) {
    if (showsMarker(envelope)) {
      evidence.marked++;
      yield envelope;
    } else known.add(envelope.id);
  }
}

/** Reads envelopes by ID, several at a time. Leaves out those that don't exist. */
async function* readAll(
  client: Client,
  items: readonly { id: string }[],
  signal: AbortSignal | undefined,
): AsyncGenerator<Envelope, void, undefined> {
  for (let at = 0; at < items.length; at += READ_CONCURRENCY) {
    const batch = items.slice(at, at + READ_CONCURRENCY);
    const read = await Promise.all(batch.map(({ id }) => readIfExists(client, id, signal)));
    yield* read.filter((envelope) => envelope !== undefined);
  }
}

/** Yields each item of the list once. At the end, it reads page 1 again, because an item may have moved there in the meantime. */
async function* itemsOf(
  { envelopes }: Client,
  { signal, since }: MarkedEnvelopesOptions,
): AsyncGenerator<Envelope, void, undefined> {
  if (since === undefined) return yield* envelopes.list({ signal, isThorough: true });
  const seen = new Set<string>();
  for await (const item of envelopes.recent(since, signal)) {
    if (seen.has(item.id)) continue;
    seen.add(item.id);
    yield item;
  }
  const first = await envelopes.page(1, { signal });
  for (const item of first.items) if (!seen.has(item.id) && !(timeOf(item.createdAt) < since())) yield item;
}

/** Returns the envelope; undefined if it doesn't exist. */
export function readIfExists(
  client: Client,
  id: string,
  signal?: AbortSignal,
): Promise<Envelope | undefined> {
  return ifFound(client.envelopes.get(id, signal));
}
