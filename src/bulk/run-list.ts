import { type RowResult, resultsOf } from './results.ts';
import type { RunState, SecondEnvelope } from './run-state.ts';
import { filesOf, type RunStatus, readRun, runIds, runStatusOf } from './runs.ts';

export interface RunSummary {
  id: string;
  file: string;
  createdAt: string;
  state: RunStatus;
  total: number;
  done: number;
  failed: number;
  /** Number of rows whose envelope an earlier run created. */
  existing: number;
}

/** A run with all details from its journal. */
export interface RunDetails extends RunSummary {
  mode: string;
  signers: number;
  drafts: number;
  unknown: number;
  finishedAt: string | null;
  baseUrl: string;
  profile: string | null;
  /** The number of rows in each wave, and the wave that began last. Null for a run without waves. */
  waves: { current: number; sizes: number[] } | null;
  results: string;
  /** Envelopes in addition to the one that counts for their row. */
  seconds: SecondEnvelope[];
}

async function summaryOf(root: string, state: RunState): Promise<RunSummary> {
  const { id, file, at, total } = state.head;
  return {
    id,
    file,
    createdAt: new Date(at).toISOString(),
    state: await runStatusOf(root, state),
    total,
    done: state.count('done'),
    failed: state.count('failed'),
    existing: state.count('existing'),
  };
}

/** Returns the details of a run. */
export async function detailsOf(root: string, state: RunState): Promise<RunDetails> {
  const { id, mode, signers, baseUrl, profile } = state.head;
  return {
    ...(await summaryOf(root, state)),
    mode,
    signers,
    drafts: state.count('created'),
    unknown: state.count('maybe'),
    finishedAt: state.finishedAt === undefined ? null : new Date(state.finishedAt).toISOString(),
    baseUrl,
    profile,
    waves: wavesOf(state),
    results: filesOf(root, id).results,
    seconds: [...state.secondEnvelopes.values()],
  };
}

/** Yields the results of a run's rows so far, in order. */
export async function* readResults(root: string, id: string): AsyncGenerator<RowResult, void, undefined> {
  yield* resultsOf(await readRun(root, id), filesOf(root, id));
}

/** Returns the results of the failed rows of a run, in order. */
export async function failuresOf(root: string, id: string): Promise<RowResult[]> {
  const failures: RowResult[] = [];
  for await (const result of readResults(root, id)) if (result.error !== null) failures.push(result);
  return failures;
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

function wavesOf({ waves, wave }: RunState): RunDetails['waves'] {
  if (waves === undefined) return null;
  const { ends } = waves;
  return { current: wave, sizes: ends.map((end, index) => end - (ends[index - 1] ?? 0)) };
}
