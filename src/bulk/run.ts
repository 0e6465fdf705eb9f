import { rm } from 'node:fs/promises';
import { counted } from '../kernel/duration.ts';
import { JournalError, UnknownOutcomeError } from '../kernel/errors.ts';
import { diskReason } from '../kernel/files/disk-reason.ts';
import { saveFailedRows } from './failed-rows.ts';
import { searchRows } from './lookup/search.ts';
import { readPlan } from './plan.ts';
import { cancelDuplicates, resolveUnknownRows } from './reconcile.ts';
import { writeResults } from './results.ts';
import { workOnRow } from './row-work.ts';
import type { BulkRow } from './rows/row.ts';
import type { OpenRun } from './runs.ts';
import { BulkSession, type RunOptions } from './session.ts';

/** How the work on a run ended. All but `finished` can be resumed. `wave`: more waves are left. */
export type Ending =
  | { kind: 'finished' }
  | { kind: 'wave' }
  | { kind: 'interrupted' }
  | { kind: 'stopped'; error: Error };

/** Number of rows announced in the journal at a time, before the first request for any of them. */
const ROWS_PER_ANNOUNCEMENT = 64;
/** Rows in progress for each concurrent request. The others are waiting for the disk. */
const ROWS_PER_REQUEST = 4;
/** How many times a run goes through its unfinished rows. */
const MAX_ROUNDS = 10;

/**
 * Works on a run until all rows of the waves that have begun are finished or something stops it. Every write request is announced
 * in the journal before it is made. A create is never repeated while its outcome is unknown.
 */
export async function workOnRun(run: OpenRun, options: RunOptions): Promise<Ending> {
  const session = new BulkSession(run, options);
  const onAbort = () => session.halt(undefined);
  if (options.signal.aborted) onAbort();
  options.signal.addEventListener('abort', onAbort, { once: true });
  let complete = false;
  try {
    await searchRows(session);
    await processUntilFinished(session);
    if (areRowsFinished(session)) {
      await cancelDuplicates(session);
      complete = true;
    }
  } catch (error) {
    if (!session.signal.aborted) session.handleError(error);
  } finally {
    options.signal.removeEventListener('abort', onAbort);
    session.end();
  }
  if (!complete) return stop(session);
  return run.state.finishedCount === run.state.head.total ? finish(session) : endWave(session);
}

async function processUntilFinished(session: BulkSession): Promise<void> {
  const { state } = session.run;
  const isSentAtOnce = state.head.mode === 'one-step';
  for (let round = 1; round <= MAX_ROUNDS && !session.isClosed(); round++) {
    await processRows(session);
    if (session.isClosed() || areRowsFinished(session)) break;
    // A second draft emails nobody, but a second envelope that is sent immediately would.
    await resolveUnknownRows(session, { again: !isSentAtOnce });
    if (state.countBegun('pending', 'created') === 0) break;
  }
}

function areRowsFinished({ run: { state } }: BulkSession): boolean {
  return state.areBegunFinished;
}

/** Works on every row that is neither finished nor has an unknown outcome. */
async function processRows(session: BulkSession): Promise<void> {
  const maxInProgress = session.options.concurrency * ROWS_PER_REQUEST;
  const { state } = session.run;
  const requests = state.head.mode === 'two-step' ? 2 : 1;
  const work = new WorkInProgress();
  try {
    for await (const row of announcedRows(session)) {
      if (session.isClosed() || !session.spend(state.of(row.row) === 'created' ? 1 : requests)) break;
      work.add(workOnRow(session, row).catch((error: unknown) => session.handleError(error)));
      await work.waitUntilBelow(maxInProgress);
    }
  } finally {
    await work.waitUntilBelow(1);
  }
}

/** Counts the work in progress and waits until there is less of it. */
class WorkInProgress {
  #size = 0;
  #wake: (() => void) | undefined;

  add(work: Promise<void>): void {
    this.#size++;
    void work.finally(() => {
      this.#size--;
      this.#wake?.();
    });
  }

  async waitUntilBelow(size: number): Promise<void> {
    while (this.#size >= size)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }
}

/** Yields the rows to work on, in order. The next ones are announced while these are worked on. */
async function* announcedRows(session: BulkSession): AsyncGenerator<BulkRow, void, undefined> {
  const plan = readPlan(session.run.files.plan, areRowsFinished(session) ? 0 : session.run.state.head.total);
  try {
    let next = announce(session, plan);
    for (;;) {
      const rows = await next;
      if (rows.length === 0) return;
      next = announce(session, plan);
      // It is awaited later. Until then, a rejection must not count as unhandled.
      next.catch(() => undefined);
      yield* rows;
    }
  } finally {
    await plan.return();
  }
}

async function announce(
  session: BulkSession,
  plan: AsyncGenerator<BulkRow, void, undefined>,
): Promise<BulkRow[]> {
  const { run, options } = session;
  const rows: BulkRow[] = [];
  while (rows.length < ROWS_PER_ANNOUNCEMENT) {
    const next = await plan.next();
    if (next.done || next.value.row > run.state.lastBegun) break;
    const state = run.state.of(next.value.row);
    if (state === 'pending' || state === 'created') rows.push(next.value);
  }
  const fresh = rows.filter(({ row }) => run.state.of(row) === 'pending');
  const [from, to] = [fresh[0]?.row, fresh.at(-1)?.row];
  if (from !== undefined && to !== undefined)
    await run.note({ type: 'creating', from, to, at: options.client.clock.now() });
  return rows;
}

async function finish(session: BulkSession): Promise<Ending> {
  const { run, options } = session;
  if (run.state.finishedAt !== undefined) return { kind: 'finished' };
  await run.note({ type: 'finished', at: options.client.clock.now() });
  if (await saveResults(session)) {
    await saveFailedRows(run.state, run.files);
    // The plan contains addresses and perhaps secrets, and is no longer needed.
    await rm(run.files.plan, { force: true });
  }
  return { kind: 'finished' };
}

async function endWave(session: BulkSession): Promise<Ending> {
  await session.run.note({ type: 'stopped', maybe: [] });
  await saveResults(session);
  return { kind: 'wave' };
}

/** Records the state of an unfinished run in the journal. */
async function stop(session: BulkSession): Promise<Ending> {
  const { run, options, stopReason } = session;
  const { state } = run;
  try {
    // Nothing can be appended to a journal that failed.
    if (!(stopReason instanceof JournalError))
      await run.note({ type: 'stopped', maybe: [...state.rows('maybe')] });
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    return { kind: 'stopped', error: stopReason ?? error };
  }
  await saveResults(session);
  if (stopReason !== undefined) return { kind: 'stopped', error: stopReason };
  if (options.signal.aborted) return { kind: 'interrupted' };
  const open = state.countBegun('pending', 'maybe', 'created');
  return {
    kind: 'stopped',
    error: new UnknownOutcomeError(
      `The outcome of ${counted(open, 'row')} is unknown: no response was received.`,
      {
        hint: '`esign bulk resume` searches for the envelopes first, and creates only the missing ones.',
      },
    ),
  };
}

async function saveResults({ run, options }: BulkSession): Promise<boolean> {
  try {
    await writeResults(run.state, run.files);
    return true;
  } catch (error) {
    options.observer.notice(`Can't write ${run.files.results}: ${diskReason(error)}.`);
    return false;
  }
}
