import { type RowResult, resultsOf } from './results.ts';
import type { RunState } from './run-state.ts';
import { filesOf, type RunStatus, readRun, runIds, runStatusOf } from './runs.ts';

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
