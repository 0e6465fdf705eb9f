import type { Client } from '../../api/client.ts';
import type { Envelope } from '../../api/schemas.ts';
import { markedEnvelopes } from '../../catalog/envelope-list.ts';
import { markerOf, requestIdOf, runOf } from '../../catalog/markers.ts';
import { StoppedError } from '../../kernel/errors.ts';
import { ROW_KEY } from '../../kernel/vocabulary.ts';

/** The envelopes to look for in the service's list. */
export interface SurveyTarget {
  runId: string;
  /** The envelopes that the run is known to have created, and their rows. */
  own: ReadonlyMap<string, number>;
  /** The request IDs that come from the file, and their rows. */
  requestIds: ReadonlyMap<string, number>;
  /** Whether to read items without markers one by one if the list may leave them out. */
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
 * Reads the service's list once and finds the envelopes of a run by the markers in their metadata.
 * @throws StoppedError when an envelope of the run does not show its markers, since the others can't be found then either.
 */
export async function surveyRun(
  client: Client,
  target: SurveyTarget,
  signal: AbortSignal,
): Promise<RunSurvey> {
  const found: RunSurvey = { byRow: new Map(), ids: new Set() };
  const { own, since, complete } = target;
  const unmarked = new Set<string>();
  const walk = {
    signal,
    since: since === undefined ? undefined : () => client.serviceClock.earliest(since),
    known: unmarked,
    marked: own,
    isListOnly: !complete,
  };
  for await (const envelope of markedEnvelopes(client, walk)) {
    const row = rowOf(envelope, target);
    if (own.has(envelope.id) && row !== own.get(envelope.id)) throw withoutMarkers(envelope.id);
    if (row === undefined) continue;
    found.ids.add(envelope.id);
    found.byRow.set(row, [...(found.byRow.get(row) ?? []), envelope]);
  }
  for (const id of unmarked) if (own.has(id)) throw withoutMarkers(id);
  return found;
}

function rowOf(envelope: Envelope, { runId, requestIds }: SurveyTarget): number | undefined {
  if (runOf(envelope) === runId) {
    const row = Number(markerOf(envelope, ROW_KEY));
    if (Number.isInteger(row)) return row;
  }
  return requestIds.get(requestIdOf(envelope) ?? '');
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
