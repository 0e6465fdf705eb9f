import { MAX_LIST_LAG_MS } from '../api/recent-pages.ts';
import type { Envelope } from '../api/schemas.ts';
import { isAmbiguous } from '../kernel/errors.ts';
import { isVoid } from '../kernel/vocabulary.ts';
import { isOf, type RunSurvey, survey } from './lookup/survey.ts';
import { recordOutcome } from './row-outcome.ts';
import type { BulkSession } from './session.ts';

/** Delays before each pass in ms, since a new envelope may take a moment to appear in the list. */
const PASS_DELAYS_MS = [0, 1_500];
const NOTICE_AFTER_MS = 10_000;
const REFUSALS = new Set(['REQUEST_ID_USED', 'INVALID_STATE']);

/**
 * Searches for the rows whose response was lost in this session, all in one pass over the list. With `again`, rows that are not
 * found will be created again.
 */
export async function resolveUnknownRows(session: BulkSession, options: { again: boolean }): Promise<void> {
  const { state } = session.run;
  for (const wait of PASS_DELAYS_MS) {
    if (state.count('maybe') === 0) return;
    if (wait > 0) await session.options.client.clock.sleep(wait, session.signal);
    const { byRow } = await session.retryAfterOutage(() => readList(session, session.startedAt));
    for (const [row, envelopes] of byRow) {
      const first = envelopes.find((envelope) => !isVoid(envelope));
      if (first !== undefined && state.of(row) === 'maybe') await recordOutcome(session, row, first);
    }
  }
  if (!options.again || state.count('maybe') === 0) return;
  await session.run.note({ type: 'again', at: session.options.client.clock.now() });
  session.willCreateAgain();
  for (const row of [...state.rows('maybe')]) state.mark(row, 'pending');
}

/** Finds second envelopes of finished rows. Drafts are canceled, since they have emailed nobody. */
export async function cancelDuplicates(session: BulkSession): Promise<void> {
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
  const { byRow } = await session.retryAfterOutage(() => readList(session));
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

function readList(session: BulkSession, since?: number): Promise<RunSurvey> {
  const { head } = session.run.state;
  const own = session.run.state.ownEnvelopes();
  const target = { runId: head.id, own, requestIds: new Map<string, number>(), complete: true, since };
  return survey(session.options.client, target, session.signal, () => session.count(1)).then(
    ({ byRow, ids }) => ({
      ids,
      byRow: new Map(
        [...byRow].map(([row, envelopes]) => [row, envelopes.filter((one) => isOf(head.id, one))]),
      ),
    }),
  );
}

async function cancelDuplicate(session: BulkSession, row: number, envelope: Envelope): Promise<void> {
  const { id, status } = envelope;
  if (status !== 'DRAFT') return session.duplicate({ row, id, status: status ?? 'unknown' });
  try {
    session.count(1);
    await session.request(false, (signal) =>
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
