import { stat } from 'node:fs/promises';
import type { Client } from '../api/client.ts';
import { readIfExists } from '../catalog/envelope-list.ts';
import { UsageError } from '../kernel/errors.ts';
import { ifExists } from '../kernel/files/regular-file.ts';
import { SAME_CONTENT_MS } from '../once/look.ts';
import type { WantedRequests } from '../once/wanted-requests.ts';
import { rowKeysOf } from '../runs/row-keys.ts';
import { filesOf } from '../runs/run-files.ts';
import type { RunState } from '../runs/run-state.ts';
import { readRun, runIds } from '../runs/runs.ts';

/*
 * What the journals of runs on this machine remember of the rows of a list. It is only a memory: the service's list decides.
 */

export interface RememberedRows {
  /** The envelopes of each row. */
  ids: Map<number, string[]>;
  /** The unfinished runs that contain rows of the list, newest first. */
  unfinished: RunState[];
}

/** Returns the drafts that a run remembers of its rows without a result. */
export function rememberedDrafts(state: RunState): Map<number, string[]> {
  const ids = new Map<number, string[]>();
  for (const row of state.rows('reserved')) {
    const id = state.idOf(row);
    if (id !== undefined) ids.set(row, [id]);
  }
  return ids;
}

/**
 * Returns what the runs of the last 30 days at the same base URL remember of requests. Excludes runs whose envelopes the key can't access.
 * @throws UsageError if a journal is damaged, because nothing may be taken as not sent then.
 */
export async function readRememberedRows(
  root: string,
  client: Client,
  wanted: WantedRequests,
  signal?: AbortSignal,
): Promise<RememberedRows> {
  const remembered: RememberedRows = { ids: new Map(), unfinished: [] };
  const since = client.serviceClock.now() - SAME_CONTENT_MS;
  for (const id of await runIds(root)) {
    const matches = await matchingRows(root, id, wanted, { baseUrl: client.baseUrl, since });
    if (matches.length === 0) continue;
    const state = await readRun(root, id);
    if (!(await canReadEnvelopes(state, client, signal))) continue;
    for (const { row, number } of matches) {
      const envelopeId = state.idOf(row);
      if (envelopeId !== undefined)
        remembered.ids.set(number, [...(remembered.ids.get(number) ?? []), envelopeId]);
    }
    if (state.finishedAt === undefined && state.endedAt === undefined) remembered.unfinished.push(state);
  }
  return remembered;
}

/**
 * Returns the rows of a run with the request IDs of requests, without reading their results. Of runs at another base URL, and of those
 * in which nothing has happened for 30 days, reads only the head.
 */
async function matchingRows(
  root: string,
  id: string,
  wanted: WantedRequests,
  { baseUrl, since }: { baseUrl: string; since: number },
): Promise<{ row: number; number: number }[]> {
  const matches: { row: number; number: number }[] = [];
  for await (const entry of rowKeysOf(root, id)) {
    if (entry.type === 'run') {
      if (entry.baseUrl !== baseUrl) return [];
      if (entry.at < since && !(await hasChangedSince(filesOf(root, id).journal, since))) return [];
      continue;
    }
    for (const [index, [, requestId]] of entry.rows.entries()) {
      const number = wanted.numberOf(requestId);
      if (number !== undefined) matches.push({ row: entry.from + index, number });
    }
  }
  return matches;
}

/** A run that was started long ago may have been resumed since (`--first`). */
async function hasChangedSince(journal: string, since: number): Promise<boolean> {
  const facts = await ifExists(stat(journal));
  return facts !== undefined && facts.mtimeMs >= since;
}

/** The maximum number of a run's envelopes that are read, because some of them may have been deleted. */
const SAMPLES = 4;

/**
 * Returns true if the key can read one of a few envelopes that are spread over the run, including the first and the last, or if
 * the run has none. It can't if it belongs to another organization, or the envelopes to a sandbox that was reset.
 */
async function canReadEnvelopes(state: RunState, client: Client, signal?: AbortSignal): Promise<boolean> {
  const ids = [...state.envelopeIds()];
  const interval = Math.ceil(ids.length / (SAMPLES - 1));
  const samples = ids.filter((_, index) => index % interval === 0 || index === ids.length - 1);
  for (const sample of samples) if (await readIfExists(client, sample, signal)) return true;
  return ids.length === 0;
}

/** Refuses a key of another organization: it would find none of the run's envelopes, so all of them would be created again. */
export async function requireSameOrganization(
  state: RunState,
  client: Client,
  signal: AbortSignal,
): Promise<void> {
  if (await canReadEnvelopes(state, client, signal)) return;
  const [envelopeId = ''] = state.envelopeIds();
  throw new UsageError(`This key can't access ${envelopeId}, which ${state.head.id} created.`, {
    run: state.head.id,
    hint: 'Use a key from the same organization: `esign profiles list`.',
  });
}
