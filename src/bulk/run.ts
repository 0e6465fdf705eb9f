import { rm } from 'node:fs/promises';
import type { Envelope } from '../api/schemas.ts';
import { MAX_LIST_LAG_MS } from '../catalog/envelope-list.ts';
import { counted } from '../kernel/duration.ts';
import { UnknownOutcomeError } from '../kernel/errors.ts';
import { exists } from '../kernel/files/files.ts';
import { isAmbiguous } from '../kernel/request-failures.ts';
import { isVoid } from '../kernel/vocabulary.ts';
import { saveFailedRows } from './failed-rows.ts';
import { PASS_DELAYS_MS, readList, searchRows } from './lookup/find-rows.ts';
import { readPlan } from './plan-run.ts';
import { recordOutcome } from './row-outcome.ts';
import { processRow } from './row-work.ts';
import { BulkSession, type RunOptions } from './run-session.ts';
import type { OpenRun } from './runs.ts';

/** How the work on a run ended. All but `finished` can be resumed. `paused`: the rows of `--first` are done. */
export type RunEnding =
  | { kind: 'finished' }
  | { kind: 'paused' }
  | { kind: 'interrupted' }
  | { kind: 'stopped'; error: Error };

/** Rows in progress for each concurrent request. The others are waiting for the disk. */
const ROWS_PER_REQUEST = 4;
/** How many times a run goes through its unfinished rows. */
const MAX_ROUNDS = 5;

/**
 * Works on a run until all rows up to `lastBegun` are finished or something stops it. A create is never repeated while its outcome
 * is unknown.
 */
export async function processRun(run: OpenRun, options: RunOptions): Promise<RunEnding> {
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
  if (!complete) return endingOf(session);
  if (run.state.finishedCount < run.state.head.total) return { kind: 'paused' };
  await finish(session);
  return { kind: 'finished' };
}

async function processUntilFinished(session: BulkSession): Promise<void> {
  const { state } = session.run;
  for (let round = 1; round <= MAX_ROUNDS && !state.areBegunFinished; round++) {
    await processRows(session);
    if (session.isClosed()) return;
    if (state.count('maybe') > 0) await resolveUnknownRows(session);
  }
}

/** Works on every row that is neither finished nor has an unknown outcome. */
async function processRows(session: BulkSession): Promise<void> {
  const { state, files } = session.run;
  const running = new Set<Promise<void>>();
  try {
    for await (const row of readPlan(files.plan, state.head.total)) {
      if (session.isClosed() || row.row > state.lastBegun) break;
      if (state.isFinished(row.row) || state.of(row.row) === 'maybe') continue;
      session.begin(row.row);
      const work: Promise<void> = processRow(session, row)
        .catch((error: unknown) => session.handleError(error))
        .finally(() => running.delete(work));
      running.add(work);
      if (running.size >= session.options.concurrency * ROWS_PER_REQUEST) await Promise.race(running);
    }
  } finally {
    await Promise.all(running);
  }
}

async function finish({ run, options }: BulkSession): Promise<void> {
  if (run.state.finishedAt === undefined)
    await run.note({ type: 'finished', at: options.client.clock.now() });
  else if (!(await exists(run.files.plan))) return;
  // The plan contains addresses and perhaps secrets.
  await saveFailedRows(run.state, run.files);
  await rm(run.files.plan, { force: true });
}

/** Returns how the work ended if rows are left. */
function endingOf({ run, options, stopReason }: BulkSession): RunEnding {
  if (stopReason !== undefined) return { kind: 'stopped', error: stopReason };
  if (options.signal.aborted) return { kind: 'interrupted' };
  const open = run.state.countBegun('pending', 'maybe', 'created');
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

/** The envelopes that the run itself created, even if the list shows no metadata. */
const ALL_ROWS = { requestIds: new Map<string, number>(), complete: true };
/** A draft of an earlier process may be listed this much later than newer ones. In ms. */
const SETTLE_MS = 1_500;
const REFUSALS = new Set(['REQUEST_ID_USED', 'INVALID_STATE']);

/**
 * Searches for the rows whose response was lost in this session, until the list must show their envelopes. The others have none and
 * are created again.
 */
async function resolveUnknownRows(session: BulkSession): Promise<void> {
  const { state } = session.run;
  const { client, observer } = session.options;
  observer.searches?.('looking for envelopes whose responses were lost');
  for (const wait of PASS_DELAYS_MS) {
    await client.clock.sleep(wait, session.signal);
    const { byRow } = await session.retryAfterOutage(() =>
      readList(session, { ...ALL_ROWS, since: session.startedAt }),
    );
    for (const [row, envelopes] of byRow) {
      const first = envelopes.find((envelope) => !isVoid(envelope));
      if (first !== undefined && state.of(row) === 'maybe') await recordOutcome(session, row, first);
    }
    if (state.count('maybe') === 0 || client.clock.now() >= session.lostAt + MAX_LIST_LAG_MS) break;
  }
  observer.searches?.(undefined);
  for (const row of [...state.rows('maybe')]) {
    session.mayHaveDuplicates = true;
    state.mark(row, 'pending');
  }
}

/** Finds second envelopes of finished rows. Drafts are canceled, since they have emailed nobody. */
async function cancelDuplicates(session: BulkSession): Promise<void> {
  const { state } = session.run;
  if (!session.mayHaveDuplicates) return;
  await session.options.client.clock.sleep(SETTLE_MS, session.signal);
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
}
