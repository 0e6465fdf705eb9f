import { rm } from 'node:fs/promises';
import type { Envelope } from '../api/schemas.ts';
import { MAX_LIST_LAG_MS } from '../catalog/envelope-list.ts';
import { counted } from '../kernel/duration.ts';
import { JournalError, UnknownOutcomeError } from '../kernel/errors.ts';
import { exists } from '../kernel/files/files.ts';
import { isAmbiguous } from '../kernel/request-failures.ts';
import { isVoid } from '../kernel/vocabulary.ts';
import { saveFailedRows } from './failed-rows.ts';
import { readList, searchRows } from './lookup/find-rows.ts';
import { readPlan } from './plan-run.ts';
import { recordOutcome } from './row-outcome.ts';
import { processRow } from './row-work.ts';
import type { BulkRow } from './rows/row.ts';
import { BulkSession, type RunOptions } from './run-session.ts';
import type { OpenRun } from './runs.ts';

/** How the work on a run ended. All but `finished` can be resumed. `paused`: the rows of `--first` are done. */
export type Ending =
  | { kind: 'finished' }
  | { kind: 'paused' }
  | { kind: 'interrupted' }
  | { kind: 'stopped'; error: Error };

/** Number of rows announced in the journal at a time, before the first request for any of them. */
const ROWS_PER_ANNOUNCEMENT = 64;
/** Rows in progress for each concurrent request. The others are waiting for the disk. */
const ROWS_PER_REQUEST = 4;
/** How many times a run goes through its unfinished rows. */
const MAX_ROUNDS = 10;

/**
 * Works on a run until all rows up to `lastBegun` are finished or something stops it. Every write request is announced
 * in the journal before it is made. A create is never repeated while its outcome is unknown.
 */
export async function processRun(run: OpenRun, options: RunOptions): Promise<Ending> {
  const session = new BulkSession(run, options);
  const onAbort = () => session.halt(undefined);
  if (options.signal.aborted) onAbort();
  options.signal.addEventListener('abort', onAbort, { once: true });
  let complete = false;
  try {
    options.observer.searches?.('looking for what was already created');
    await searchRows(session);
    options.observer.searches?.(undefined);
    await processUntilFinished(session);
    if (run.state.areBegunFinished) {
      options.observer.searches?.('checking that no row has two envelopes');
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
  return run.state.finishedCount === run.state.head.total ? finish(session) : pause(session);
}

async function processUntilFinished(session: BulkSession): Promise<void> {
  const { state } = session.run;
  for (let round = 1; round <= MAX_ROUNDS && !session.isClosed(); round++) {
    await processRows(session);
    if (session.isClosed() || state.areBegunFinished) break;
    await resolveUnknownRows(session);
    if (state.countBegun('pending', 'created') === 0) break;
  }
}

/** Works on every row that is neither finished nor has an unknown outcome. */
async function processRows(session: BulkSession): Promise<void> {
  const maxInProgress = session.options.concurrency * ROWS_PER_REQUEST;
  const work = new WorkInProgress();
  try {
    for await (const row of announcedRows(session)) {
      if (session.isClosed()) break;
      session.begin(row.row);
      work.add(processRow(session, row).catch((error: unknown) => session.handleError(error)));
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
  const { state, files } = session.run;
  const plan = readPlan(files.plan, state.areBegunFinished ? 0 : state.head.total);
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
  if (run.state.finishedAt === undefined)
    await run.note({ type: 'finished', at: options.client.clock.now() });
  else if (!(await exists(run.files.plan))) return { kind: 'finished' };
  // The plan contains addresses and perhaps secrets.
  await saveFailedRows(run.state, run.files);
  await rm(run.files.plan, { force: true });
  return { kind: 'finished' };
}

async function pause(session: BulkSession): Promise<Ending> {
  await session.run.note({ type: 'stopped', maybe: [] });
  return { kind: 'paused' };
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

/** Delays before each pass in ms, since a new envelope may take a moment to appear in the list. */
const PASS_DELAYS_MS = [0, 1_500];
const NOTICE_AFTER_MS = 10_000;
/** The envelopes that the run itself created, even if the list shows no metadata. */
const ALL_ROWS = { requestIds: new Map<string, number>(), complete: true };
const REFUSALS = new Set(['REQUEST_ID_USED', 'INVALID_STATE']);

/**
 * Searches for the rows whose response was lost in this session, all in one pass over the list. Rows that are not found will be
 * created again: a second draft emails nobody.
 */
async function resolveUnknownRows(session: BulkSession): Promise<void> {
  const { state } = session.run;
  for (const wait of PASS_DELAYS_MS) {
    if (state.count('maybe') === 0) return;
    if (wait > 0) await session.options.client.clock.sleep(wait, session.signal);
    const { byRow } = await session.retryAfterOutage(() =>
      readList(session, { ...ALL_ROWS, since: session.startedAt }),
    );
    for (const [row, envelopes] of byRow) {
      const first = envelopes.find((envelope) => !isVoid(envelope));
      if (first !== undefined && state.of(row) === 'maybe') await recordOutcome(session, row, first);
    }
  }
  if (state.count('maybe') === 0) return;
  await session.run.note({ type: 'again', at: session.options.client.clock.now() });
  session.willCreateAgain();
  for (const row of [...state.rows('maybe')]) state.mark(row, 'pending');
}

/** Finds second envelopes of finished rows. Drafts are canceled, since they have emailed nobody. */
async function cancelDuplicates(session: BulkSession): Promise<void> {
  const { run, options } = session;
  const { state } = run;
  if (!session.mayHaveDuplicates) return;
  const { clock } = options.client;
  const wait = Math.max(
    PASS_DELAYS_MS.at(-1) ?? 0,
    Math.min(session.mayAppearUntil - clock.now(), MAX_LIST_LAG_MS),
  );
  if (wait > NOTICE_AFTER_MS)
    options.observer.notice('Waiting up to a minute for envelopes whose responses were lost.', {
      waitMs: MAX_LIST_LAG_MS,
    });
  await clock.sleep(wait, session.signal);
  const { byRow } = await session.retryAfterOutage(() => readList(session, ALL_ROWS));
  for (const [row, envelopes] of byRow) {
    for (const envelope of envelopes) {
      const counts = envelope.id === state.idOf(row) && !isLeftover(session, row, envelope);
      if (!counts && state.isFinished(row) && envelope.status !== 'CANCELLED')
        await cancelDuplicate(session, row, envelope);
    }
  }
}

/** Returns true for the draft of a row that was later refused because its request ID turned out to be used. */
function isLeftover({ run: { state } }: BulkSession, row: number, { status }: Envelope): boolean {
  const code = state.errorOf(row)?.code ?? '';
  return state.of(row) === 'failed' && status === 'DRAFT' && REFUSALS.has(code);
}

async function cancelDuplicate(session: BulkSession, row: number, envelope: Envelope): Promise<void> {
  const { id, status } = envelope;
  if (status !== 'DRAFT') return session.duplicate({ row, id, status: status ?? 'unknown' });
  try {
    await session.request((signal) =>
      session.options.client.envelopes.cancel(id, `second draft of row ${row}`, signal),
    );
  } catch (error) {
    if (!isAmbiguous(error)) {
      session.requireRowError(error);
      return session.duplicate({ row, id, status });
    }
    const now = await session.retryAfterOutage(() =>
      session.options.client.envelopes.get(id, session.signal),
    );
    if (now.status !== 'CANCELLED') return session.duplicate({ row, id, status: now.status ?? 'unknown' });
  }
  await session.run.note({ type: 'cancelled', id });
}
