import { isLocked } from '../kernel/files/lock.ts';
import { scan } from '../lines/scan.ts';
import { RUN_FORMAT, type RunEntry, type RunHead } from './journal-entries.ts';
import { type RowResult, rowResultsOf } from './results.ts';
import { rowKeysOf } from './row-keys.ts';
import { filesOf } from './run-files.ts';
import type { RunState } from './run-state.ts';
import { RUN_ID, readRun, runIds } from './runs.ts';

/** Where a run is. `interrupted` and `paused` runs can be resumed. `continued`: its list was run again, by another run. */
type RunStatus = 'running' | 'interrupted' | 'paused' | 'finished' | 'cancelled' | 'continued';

export interface RunSummary {
  id: string;
  file: string;
  createdAt: string;
  state: RunStatus;
  total: number;
  done: number;
  failed: number;
  /** The run that continues its list. */
  continuedBy: string | null;
}

/** Returns what a list shows of a run. Rows whose envelope an earlier run created count as done. */
export async function summaryOf(root: string, state: RunState): Promise<RunSummary> {
  const { id, file, at, total } = state.head;
  return {
    id,
    file,
    createdAt: new Date(at).toISOString(),
    state: await runStatusOf(root, state),
    total,
    done: state.count('done') + state.count('existing'),
    failed: state.count('failed'),
    continuedBy: state.continuedBy ?? null,
  };
}

/** Returns whether a run has finished, is being worked on, can be resumed, or has ended. */
async function runStatusOf(root: string, state: RunState): Promise<RunStatus> {
  if (state.continuedBy !== undefined) return 'continued';
  if (state.endedAt !== undefined) return 'cancelled';
  if (state.finishedAt !== undefined) return 'finished';
  if (await isLocked(filesOf(root, state.head.id).lock)) return 'running';
  return state.isPaused ? 'paused' : 'interrupted';
}

/** Yields the results of a run's rows so far, in order. */
export async function* readResults(root: string, id: string): AsyncGenerator<RowResult, void, undefined> {
  yield* rowResultsOf(await readRun(root, id), filesOf(root, id));
}

/** The runs at one base URL, and those that are left out. */
export interface RunHeads {
  /** Newest first. */
  heads: RunHead[];
  others: RunHead[];
}

/** Returns the heads of the runs at a base URL; of all runs if it is undefined. A journal that can't be read is reported to `skipped`. */
export async function runHeads(
  root: string,
  baseUrl: string | undefined,
  skipped: (error: unknown) => void,
): Promise<RunHeads> {
  const found: RunHeads = { heads: [], others: [] };
  for (const id of await runIds(root)) {
    const head = await readHead(root, id).catch(skipped);
    if (!head) continue;
    const isOther = baseUrl !== undefined && head.baseUrl !== baseUrl;
    (isOther ? found.others : found.heads).push(head);
  }
  return found;
}

/** Yields what a list shows of these runs. A journal that can't be read is reported to `skipped`. */
export async function* readRunSummaries(
  root: string,
  heads: readonly RunHead[],
  skipped: (error: unknown) => void,
): AsyncGenerator<RunSummary, void, undefined> {
  for (const { id } of heads) {
    const summary = await readRun(root, id).then((state) => summaryOf(root, state), skipped);
    if (summary) yield summary;
  }
}

/** The newest run, and the newer ones whose journals are damaged: each of those may be the newest one instead. */
export interface LastRun {
  head: RunHead | undefined;
  /** Newest first. */
  damaged: { id: string; error: unknown }[];
}

/** Returns the newest run; with a base URL, the newest one there. A damaged journal doesn't show its base URL. */
export async function lastRun(root: string, baseUrl?: string): Promise<LastRun> {
  const last: LastRun = { head: undefined, damaged: [] };
  for (const id of await runIds(root)) {
    const head = await readHead(root, id).catch((error: unknown) => void last.damaged.push({ id, error }));
    if (!head || (baseUrl !== undefined && head.baseUrl !== baseUrl)) continue;
    last.head = head;
    break;
  }
  return last;
}

/** Returns the head of a run; undefined for a journal of another version. @throws UsageError if it is damaged. */
async function readHead(root: string, id: string): Promise<RunHead | undefined> {
  for await (const entry of rowKeysOf(root, id)) if (entry.type === 'run') return entry;
  return undefined;
}

/** The envelopes that one process created or sent for a run, and when it began (ms); the first one began with the run. */
export interface RunSession {
  since: number;
  envelopeIds: Set<string>;
}

/** Returns what each process that worked on a run did, in order. Empty if the run isn't on this machine. */
export async function sessionsOf(root: string, id: string): Promise<RunSession[]> {
  const sessions: RunSession[] = [];
  if (!RUN_ID.test(id)) return sessions;
  await scan<RunEntry>({ path: filesOf(root, id).journal, format: RUN_FORMAT }, (entry) => {
    if (entry.type === 'run') sessions.push({ since: 0, envelopeIds: new Set() });
    if (entry.type === 'resumed') sessions.push({ since: entry.at, envelopeIds: new Set() });
    const isOwn = entry.type === 'done' || (entry.type === 'reserved' && entry.taken !== true);
    if (isOwn) sessions.at(-1)?.envelopeIds.add(entry.id);
  });
  return sessions;
}
