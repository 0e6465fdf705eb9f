import { scan } from '../journal/scan.ts';
import { isLocked } from '../kernel/files/lock.ts';
import { RUN_FORMAT, type RunEntry } from './entries.ts';
import { type RowResult, resultsOf } from './results.ts';
import type { RunState } from './run-state.ts';
import { filesOf, RUN_ID, readRun, runIds } from './runs.ts';

/** Where a run is. `interrupted` and `paused` runs can be resumed. */
type RunStatus = 'running' | 'interrupted' | 'paused' | 'finished' | 'cancelled';

export interface RunSummary {
  id: string;
  file: string;
  createdAt: string;
  state: RunStatus;
  total: number;
  done: number;
  failed: number;
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
  };
}

/** Returns whether a run has finished, is being worked on, can be resumed, or was ended by the user. */
export async function runStatusOf(root: string, state: RunState): Promise<RunStatus> {
  if (state.endedAt !== undefined) return 'cancelled';
  if (state.finishedAt !== undefined) return 'finished';
  if (await isLocked(filesOf(root, state.head.id).lock)) return 'running';
  return state.isPaused ? 'paused' : 'interrupted';
}

/** Yields the results of a run's rows so far, in order. */
export async function* readResults(root: string, id: string): AsyncGenerator<RowResult, void, undefined> {
  yield* resultsOf(await readRun(root, id), filesOf(root, id));
}

/** Yields all runs, newest first. A journal that can't be read is reported to `skipped`. */
export async function* summaries(
  root: string,
  skipped: (id: string, error: unknown) => void,
): AsyncGenerator<RunSummary, void, undefined> {
  for (const id of await runIds(root)) {
    try {
      yield await summaryOf(root, await readRun(root, id));
    } catch (error) {
      skipped(id, error);
    }
  }
}

/** Returns the ID of the newest run. */
export async function lastRun(root: string): Promise<string | undefined> {
  return (await runIds(root))[0];
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
