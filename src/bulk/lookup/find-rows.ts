import type { Envelope } from '../../api/schemas.ts';
import { MAX_LIST_LAG_MS } from '../../catalog/envelope-list.ts';
import { runOf } from '../../catalog/markers.ts';
import { msUntilCertain } from '../../envelopes/earlier-create.ts';
import { byPrecedence } from '../../envelopes/precedence.ts';
import { hasSameContent } from '../../envelopes/same-content.ts';
import { StoppedError } from '../../kernel/errors.ts';
import { isVoid } from '../../kernel/vocabulary.ts';
import { createKey } from '../../log/keys.ts';
import type { LoggedWrite } from '../../log/logged-write.ts';
import { readPlan } from '../plan-run.ts';
import { recordOutcome, refuseUsedId } from '../row-outcome.ts';
import { createRow } from '../row-work.ts';
import type { BulkSession } from '../run-session.ts';
import { type RunSurvey, type SurveyTarget, surveyRun } from './survey.ts';

/** Delays before each pass over the list, in ms. Their sum is the time after which an envelope must be listed. */
export const PASS_DELAYS_MS = [0, 1_500, 3_500, 10_000, 15_000, 30_000];

/**
 * Searches the whole list for envelopes of rows that are not known to be done, before any row is created or sent. This happens on
 * every resume, since the journal may be an old copy, and when rows have their own request IDs. Envelopes that are found are
 * recorded; the other rows are created.
 *
 * The list may lag. So before anyone is emailed, one row is created as a draft, and only a pass that shows this draft counts: it
 * also shows everything that was created before.
 * @throws StoppedError when the list does not show what this run created.
 */
export async function searchRows(session: BulkSession): Promise<void> {
  const { run } = session;
  const { state } = run;
  if (state.areBegunFinished) return;
  if (!run.resumed && state.head.ownRequestIds === 0) return;
  if (run.resumed) await run.note({ type: 'resumed', at: session.options.client.clock.now() });
  session.isSearching = true;
  const requestIds = await requestIdsOf(session);
  const isDraftRun = state.head.mode === 'draft';
  // A new run has just read the list, before the confirmation prompt.
  const first = run.resumed
    ? await session.retryAfterOutage(() => readList(session, { requestIds, complete: isDraftRun }))
    : { byRow: new Map<number, Envelope[]>(), ids: new Set<string>() };
  if (isDraftRun) await recordFound(session, first);
  else {
    await recordSent(session, first);
    const open = unresolvedRows(session, requestIds, first);
    if (open.size > 0) await recordFound(session, await findDecisivePass(session, requestIds, first, open));
  }
  session.isSearching = false;
}

async function requestIdsOf({ run }: BulkSession): Promise<Map<string, number>> {
  const rows = new Map<string, number>();
  if (run.state.head.ownRequestIds === 0) return rows;
  for await (const { row, requestId } of readPlan(run.files.plan)) {
    if (requestId !== undefined) rows.set(requestId, row);
  }
  return rows;
}

/** Finds the run's envelopes in the service's list. */
export function readList(
  session: BulkSession,
  target: Pick<SurveyTarget, 'requestIds' | 'complete' | 'since'>,
): Promise<RunSurvey> {
  const { state } = session.run;
  const own = { runId: state.head.id, own: state.ownEnvelopes() };
  return surveyRun(session.options.client, { ...own, ...target }, session.signal);
}

async function waitForListLag({ options, signal }: BulkSession): Promise<void> {
  options.observer.notice('Waiting a minute for the service to list everything created so far.');
  await options.client.clock.sleep(MAX_LIST_LAG_MS, signal);
}

const POLL_MS = 1_000;

/**
 * Waits until the list must show what was requested under these IDs. Another process may still get its response. The pauses count, so
 * that a clock that was set back doesn't matter.
 */
async function waitForResponses(
  session: BulkSession,
  { writes, msLeft }: { writes: readonly LoggedWrite[]; msLeft: number },
): Promise<void> {
  const { observer, client } = session.options;
  observer.notice('Waiting up to a minute for envelopes whose responses were lost.');
  const keys = writes.map(({ intent }) => intent.key ?? '');
  for (let left = msLeft; left > 0; left = Math.min(left, (await pendingWrites(session, keys)).msLeft)) {
    const pause = Math.min(POLL_MS, left);
    await client.clock.sleep(pause, session.signal);
    left -= pause;
  }
}

/** Returns the writes from this machine with these keys whose response is missing, and how long the list may lack their results (ms). */
async function pendingWrites(
  session: BulkSession,
  keys: readonly string[],
): Promise<{ writes: readonly LoggedWrite[]; msLeft: number }> {
  const { client, memory } = session.options;
  const found = await memory.find(keys);
  const writes = found.filter(({ state }) => state === 'open' || state === 'unknown');
  return { writes, msLeft: writes.reduce((ms, write) => Math.max(ms, msUntilCertain(write, client)), 0) };
}

/** Returns the rows that may have an envelope that this run does not know, taking into account what was found. */
function unresolvedRows(
  session: BulkSession,
  requestIds: ReadonlyMap<string, number>,
  found: RunSurvey,
): Set<number> {
  const { run } = session;
  const withRequestId = new Set(requestIds.values());
  const rows = new Set<number>();
  for (let row = 1; row <= run.state.lastBegun; row++) {
    const state = run.state.of(row);
    const isUncertain =
      state === 'created' && (run.state.isUnchecked(row) || run.state.isAdopted(row) || found.byRow.has(row));
    const mayExist = run.resumed || withRequestId.has(row);
    if (mayExist && (state === 'pending' || isUncertain)) rows.add(row);
  }
  return rows;
}

/** Returns the first pass that shows everything created before this session began. */
async function findDecisivePass(
  session: BulkSession,
  requestIds: ReadonlyMap<string, number>,
  found: RunSurvey,
  open: ReadonlySet<number>,
): Promise<RunSurvey> {
  const { state } = session.run;
  const { client, observer } = session.options;
  const openIds = [...requestIds].filter(([, row]) => open.has(row)).map(([id]) => id);
  const keys = openIds.map((id) => createKey(client.baseUrl, id));
  const pending = await pendingWrites(session, keys);
  const isUnknown = (row: number) => open.has(row) && !state.isFinished(row) && !found.byRow.has(row);
  if (!(await createProbe(session, isUnknown))) await waitForListLag(session);
  else if (pending.msLeft > 0) await waitForResponses(session, pending);
  for (const [index, wait] of PASS_DELAYS_MS.entries()) {
    if (wait > 0) await client.clock.sleep(wait, session.signal);
    const pass = await session.retryAfterOutage(() => readList(session, { requestIds, complete: true }));
    if ([...state.ownEnvelopes().keys()].every((id) => pass.ids.has(id))) {
      session.markSearched(pending.writes);
      return pass;
    }
    if (index === 0) observer.notice('Waiting for the service to list the new envelopes.');
  }
  throw new StoppedError(
    'UNKNOWN_OUTCOME',
    "The service's list doesn't contain the envelopes from this run.",
    {
      hint: 'No more envelopes are created until it does.',
    },
  );
}

/** Creates one of the rows as a draft. Returns false when none was certainly created. */
async function createProbe(session: BulkSession, isUnknown: (row: number) => boolean): Promise<boolean> {
  const { run } = session;
  for await (const row of readPlan(run.files.plan, run.state.head.total)) {
    if (!isUnknown(row.row) || run.state.of(row.row) !== 'pending') continue;
    if (await createRow(session, row)) return true;
    if (session.isClosed()) return false;
  }
  return false;
}

/** Records the rows whose envelope was found and is no longer a draft. No later pass changes that. */
async function recordSent(session: BulkSession, { byRow }: RunSurvey): Promise<void> {
  const sent = [...byRow].flatMap(([row, envelopes]): [number, Envelope[]][] => {
    const past = envelopes.filter(({ status }) => status !== 'DRAFT' && status !== 'CANCELLED');
    return past.length > 0 ? [[row, past]] : [];
  });
  await recordFound(session, { byRow: new Map(sent), ids: new Set() });
}

async function recordFound(session: BulkSession, { byRow }: RunSurvey): Promise<void> {
  const { state } = session.run;
  const foreign = new Map<number, Envelope>();
  for (const [row, envelopes] of byRow) {
    if (row < 1 || row > state.head.total) continue;
    if (state.of(row) !== 'pending' && state.of(row) !== 'maybe' && state.of(row) !== 'created') continue;
    const winner = await chooseEnvelope(session, row, envelopes);
    if (winner === undefined) continue;
    const isChecked = runOf(winner) === state.head.id || state.idOf(row) === winner.id;
    if (isChecked) await recordOutcome(session, row, winner);
    else foreign.set(row, winner);
  }
  if (foreign.size > 0) await recordForeign(session, foreign);
}

/** Settles rows with envelopes that were found only by request ID. A row with other content than its envelope is refused. */
async function recordForeign(session: BulkSession, foreign: ReadonlyMap<number, Envelope>): Promise<void> {
  const { client } = session.options;
  // The rows may have drafts of this run, too.
  session.mayHaveDuplicates = true;
  for await (const row of readPlan(session.run.files.plan)) {
    const found = foreign.get(row.row);
    if (found === undefined) continue;
    const envelope = await session.retryAfterOutage(() => client.envelopes.get(found.id, session.signal));
    if (hasSameContent(envelope, row.envelope)) await recordOutcome(session, row.row, envelope);
    else await refuseUsedId(session, row, envelope.id);
  }
}

/**
 * Returns the envelope that counts for a row: one that was sent, or else the draft that an earlier session chose, or else the
 * oldest one.
 */
async function chooseEnvelope(
  session: BulkSession,
  row: number,
  envelopes: readonly Envelope[],
): Promise<Envelope | undefined> {
  const { envelopes: api } = session.options.client;
  const isSure = envelopes.length === 1 && envelopes[0]?.status !== 'CANCELLED';
  // The list may show an old status, and may not show whether a canceled envelope had been sent.
  const fresh = isSure
    ? [...envelopes]
    : await Promise.all(
        envelopes.map(({ id }) => session.retryAfterOutage(() => api.get(id, session.signal))),
      );
  const left = fresh.filter((envelope) => !isVoid(envelope));
  const sent = left.filter(({ status }) => status !== 'DRAFT');
  // Prefer the known draft, since it may have just been sent. An unchecked one doesn't count, so that of two machines that work
  // on a run, neither prefers its own.
  const { state } = session.run;
  const known = state.isUnchecked(row) ? undefined : left.find(({ id }) => id === state.idOf(row));
  const canceled = fresh.find((envelope) => runOf(envelope) !== state.head.id);
  return sent.toSorted(byPrecedence)[0] ?? known ?? left.toSorted(byPrecedence)[0] ?? canceled;
}
