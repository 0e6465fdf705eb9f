import type { Client } from '../../api/client.ts';
import { READ_CONCURRENCY } from '../../api/limits.ts';
import type { Envelope } from '../../api/schemas.ts';
import { recentItems } from '../../catalog/list.ts';
import { markerOf, requestIdOf } from '../../catalog/markers.ts';
import { Limiter } from '../../kernel/async/limiter.ts';
import { StoppedError } from '../../kernel/errors.ts';
import { ROW_KEY, RUN_KEY } from '../../kernel/vocabulary.ts';

/** The envelopes to look for in the service's list. */
export interface SurveyTarget {
  runId: string;
  /** The envelopes that the run is known to have created, and their rows. */
  own: ReadonlyMap<string, number>;
  /** The request IDs that come from the file, and their rows. */
  requestIds: ReadonlyMap<string, number>;
  /** Whether to read items without metadata one by one if the list shows no metadata at all. */
  complete: boolean;
  /** Only envelopes created since then (ms, this machine's clock); all envelopes if it is undefined. */
  since?: number | undefined;
}

/** The envelopes of a run that one pass over the list found. */
export interface RunSurvey {
  /** The envelopes of each row. */
  byRow: Map<number, Envelope[]>;
  ids: Set<string>;
}

/**
 * Reads the service's list once and finds the envelopes of a run by the markers in their metadata. If the list shows the markers
 * of one of them, items without metadata don't belong to the run. Otherwise, each item without metadata is read individually.
 * @throws StoppedError when an envelope of the run does not show its markers, since the others can't be found then either.
 */
export async function survey(client: Client, target: SurveyTarget, signal: AbortSignal): Promise<RunSurvey> {
  const found: RunSurvey = { byRow: new Map(), ids: new Set() };
  const blanks: string[] = [];
  const take = (envelope: Envelope) => {
    const row = rowOf(envelope, target);
    const ownRow = target.own.get(envelope.id);
    if (ownRow !== undefined && row !== ownRow) throw withoutMarkers(envelope.id);
    if (row === undefined) return;
    found.ids.add(envelope.id);
    found.byRow.set(row, [...(found.byRow.get(row) ?? []), envelope]);
  };
  for await (const item of itemsOf(client, target.since, signal)) {
    if (isBlank(item)) blanks.push(item.id);
    else take(item);
  }
  const listShowsMarkers = found.ids.size > 0 && !blanks.some((id) => target.own.has(id));
  if (!target.complete || listShowsMarkers) return found;
  const limiter = new Limiter(READ_CONCURRENCY);
  const read = blanks.map((id) => limiter.run(() => client.envelopes.get(id, signal)));
  for (const envelope of await Promise.all(read)) take(envelope);
  return found;
}

function itemsOf(client: Client, since: number | undefined, signal: AbortSignal): AsyncIterable<Envelope> {
  if (since === undefined) return client.envelopes.list({ signal });
  return recentItems(client, () => client.serviceClock.earliest(since), { signal });
}

function isBlank({ metadata }: Envelope): boolean {
  return metadata === undefined || metadata === null || Object.keys(metadata).length === 0;
}

function rowOf(envelope: Envelope, { runId, requestIds }: SurveyTarget): number | undefined {
  if (isOf(runId, envelope)) {
    const row = Number(markerOf(envelope, ROW_KEY));
    if (Number.isInteger(row)) return row;
  }
  return requestIds.get(requestIdOf(envelope) ?? '');
}

/** Returns true for an envelope with the markers of this run. */
export function isOf(runId: string, envelope: Envelope): boolean {
  return markerOf(envelope, RUN_KEY) === runId;
}

function withoutMarkers(id: string): StoppedError {
  return new StoppedError(
    'UNKNOWN_OUTCOME',
    `The service does not return the metadata that this run stored with ${id}.`,
    {
      hint: "Without it, envelopes created earlier can't be found, so no more are created.",
    },
  );
}
