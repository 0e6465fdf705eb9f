import { readLine } from '../journal/line.ts';
import { linesOf } from '../journal/lines.ts';
import { RUN_FORMAT, type RunHead } from './entries.ts';
import { type RowResult, resultsOf } from './results.ts';
import type { RunState } from './run-state.ts';
import { filesOf, readRun, runIds, type Standing, standingOf } from './runs.ts';

/** A run in `bulk list`. */
export interface RunSummary {
  id: string;
  file: string;
  createdAt: string;
  state: Standing;
  total: number;
  done: number;
  failed: number;
}

/** A run with the rest of what its journal tells. */
export interface RunDetails extends RunSummary {
  mode: string;
  signers: number;
  drafts: number;
  unknown: number;
  finishedAt: string | null;
  baseUrl: string;
  profile: string | null;
  results: string;
}

async function summaryOf(root: string, state: RunState): Promise<RunSummary> {
  const { id, file, at, total } = state.head;
  return {
    id,
    file,
    createdAt: new Date(at).toISOString(),
    state: await standingOf(root, state),
    total,
    done: state.count('done'),
    failed: state.count('failed'),
  };
}

/** What is known of a run at this moment. @throws UsageError when there is none of this id. */
export async function detailsOf(root: string, id: string): Promise<RunDetails> {
  const state = await readRun(root, id);
  const { mode, signers, baseUrl, profile } = state.head;
  return {
    ...(await summaryOf(root, state)),
    mode,
    signers,
    drafts: state.count('created'),
    unknown: state.count('maybe'),
    finishedAt: state.finishedAt === undefined ? null : new Date(state.finishedAt).toISOString(),
    baseUrl,
    profile,
    results: filesOf(root, id).results,
  };
}

/** What became of each row of a run so far, in order. */
export async function* readResults(root: string, id: string): AsyncGenerator<RowResult, void, undefined> {
  yield* resultsOf(await readRun(root, id), filesOf(root, id));
}

/** The rows of a run that failed, in order. */
export async function failuresOf(root: string, id: string): Promise<RowResult[]> {
  const failures: RowResult[] = [];
  for await (const result of readResults(root, id)) if (result.error !== null) failures.push(result);
  return failures;
}

/** All runs, the latest first; a journal that can't be read is told to `skipped`. */
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

/** The latest earlier run of the same rows at the same service, if there is one. */
export async function earlierRunOf(
  root: string,
  wanted: { fingerprint: string; baseUrl: string },
): Promise<RunSummary | undefined> {
  for (const id of await runIds(root)) {
    const head = await headOf(root, id);
    if (head?.fingerprint !== wanted.fingerprint || head.baseUrl !== wanted.baseUrl) continue;
    return summaryOf(root, await readRun(root, id));
  }
  return undefined;
}

/** The run that was begun last. */
export async function lastRun(root: string): Promise<string | undefined> {
  return (await runIds(root))[0];
}

/** The first entry of a run's journal, without reading the rest. */
async function headOf(root: string, id: string): Promise<RunHead | undefined> {
  let number = 0;
  for await (const { bytes } of linesOf(filesOf(root, id).journal)) {
    if (++number < 2) continue;
    const entry = RUN_FORMAT.read(readLine(bytes));
    return entry?.type === 'run' ? entry : undefined;
  }
  return undefined;
}
