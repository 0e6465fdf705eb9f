import { LISTED_AFTER_MS } from '../api/recent-pages.ts';
import type { Envelope } from '../api/schemas.ts';
import { isAmbiguous, isOutage } from '../kernel/errors.ts';
import { isVoid, LIMITS } from '../kernel/vocabulary.ts';
import { envelopesOfRun, envelopesWithRequestIds, type Sighting } from './lookup.ts';
import { readPlan } from './plan.ts';
import type { Session } from './session.ts';

/** A created envelope may take a moment to appear in the list, so it is looked for more than once; ms before each look. */
const LOOKS = [0, 1_500];

/**
 * Looks for the rows that may exist, all in one walk over the list; what is found is settled. With `again`, what is not
 * found will be created again.
 */
export async function settleDoubtful(session: Session, options: { again: boolean }): Promise<void> {
  const { state } = session.run;
  const { clock } = session.options.client;
  if (state.count('maybe') === 0) return;
  const since = state.announcedBetween ?? { first: state.head.at, last: state.head.at };
  const looks = [...LOOKS];
  // Sent at its creation, a second envelope would be a second mail.
  if (state.head.mode === 'one-step' && options.again)
    looks.push(Math.max(0, Math.min(LISTED_AFTER_MS, since.last + LISTED_AFTER_MS - clock.now())));
  for (const wait of looks) {
    if (state.count('maybe') === 0) return;
    if (wait > 0) await clock.sleep(wait, session.signal);
    await persistently(session, () => look(session, since.first));
  }
  if (!options.again) return;
  session.doubtful = true;
  for (const row of [...state.rows('maybe')]) state.mark(row, 'pending');
}

/** One walk; settles the rows whose envelope is there. */
async function look(session: Session, since: number): Promise<void> {
  const { state } = session.run;
  const found = new Map<number, Envelope>();
  for await (const { row, envelope } of sightings(session, since)) {
    if (state.of(row) !== 'maybe' || isVoid(envelope)) continue;
    found.set(row, better(found.get(row), envelope));
  }
  for (const [row, envelope] of found) await settle(session, row, envelope);
}

async function settle(session: Session, row: number, envelope: Envelope, requestId?: string): Promise<void> {
  const own = requestId ?? ownRequestId(session, envelope);
  const isDraft = envelope.status === 'DRAFT';
  if (isDraft && session.run.state.head.mode !== 'draft') await session.created(row, envelope.id, own);
  else await session.done(row, envelope.id, envelope.status ?? 'SENT', own);
}

function ownRequestId(session: Session, { metadata }: Envelope): string | undefined {
  const id = metadata?.esignRequestId;
  return session.run.state.head.ownRequestIds > 0 && typeof id === 'string' ? id : undefined;
}

/** Of two envelopes of one row: the one that was sent, else the first. */
function better(known: Envelope | undefined, other: Envelope): Envelope {
  if (known === undefined) return other;
  const sent = [known, other].filter((one) => one.status !== 'DRAFT');
  if (sent.length === 1 && sent[0] !== undefined) return sent[0];
  return Date.parse(other.createdAt ?? '') < Date.parse(known.createdAt ?? '') ? other : known;
}

/** Finds second drafts of rows that are settled, and cancels them: they have mailed nobody. */
export async function cancelExtraDrafts(session: Session): Promise<void> {
  const { run, options } = session;
  const { state } = run;
  if (!session.doubtful) return;
  await options.client.clock.sleep(LOOKS.at(-1) ?? 0, session.signal);
  const extras = new Map<string, Sighting>();
  await persistently(session, async () => {
    for await (const sighting of sightings(session, state.head.at)) {
      const { row, envelope } = sighting;
      const settled = state.of(row) === 'done' || state.of(row) === 'failed';
      if (settled && envelope.id !== state.idOf(row)) extras.set(envelope.id, sighting);
    }
  });
  for (const { row, envelope } of extras.values()) await cancelExtra(session, row, envelope);
}

async function cancelExtra(session: Session, row: number, envelope: Envelope): Promise<void> {
  const { says } = session.options.observer;
  if (envelope.status === 'CANCELLED') return;
  if (envelope.status !== 'DRAFT')
    return says(
      `Row ${row} has a second envelope, ${envelope.id} (${envelope.status ?? 'unknown'}). Look into it.`,
    );
  try {
    session.count(1);
    await session.request(false, (signal) =>
      session.options.client.envelopes.cancel(envelope.id, `second draft of row ${row}`, signal),
    );
  } catch (error) {
    if (!isAmbiguous(error)) {
      session.ofRowAlone(error);
      return says(`${envelope.id}, a second draft of row ${row}, can't be cancelled. It mails nobody.`);
    }
  }
  await session.run.note({ type: 'cancelled', id: envelope.id });
}

/** Settles the rows whose request id an envelope of any earlier run carries already. */
export async function findEarlier(session: Session): Promise<void> {
  const { run, options } = session;
  const { state } = run;
  if (state.head.ownRequestIds === 0 || state.looked) return;
  const rows = new Map<string, number>();
  const templates = new Set<string>();
  for await (const { row, requestId, envelope } of readPlan(run.files.plan)) {
    templates.add(envelope.templateId);
    if (requestId !== undefined && state.of(row) === 'pending') rows.set(requestId, row);
  }
  await persistently(session, async () => {
    let items = 0;
    for await (const { requestId, envelope } of envelopesWithRequestIds(
      options.client,
      templates,
      session.signal,
    )) {
      if (items++ % LIMITS.pageSize === 0) session.count(1);
      const row = rows.get(requestId);
      if (row === undefined || state.of(row) !== 'pending' || isVoid(envelope)) continue;
      await settle(session, row, envelope, requestId);
    }
  });
  await run.note({ type: 'looked' });
}

async function* sightings(session: Session, since: number): AsyncGenerator<Sighting, void, undefined> {
  const { state } = session.run;
  const ids = new Set<string>();
  for (let row = 1; row <= state.head.total; row++) {
    const id = state.idOf(row);
    if (id !== undefined) ids.add(id);
  }
  let items = 0;
  const wanted = { runId: state.head.id, since, isKnown: (id: string) => ids.has(id) };
  for await (const sighting of envelopesOfRun(session.options.client, wanted, session.signal)) {
    if (items++ % LIMITS.pageSize === 0) session.count(1);
    yield sighting;
  }
}

/** Reads again after an outage; reading twice does no harm. */
async function persistently(session: Session, work: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isOutage(error) || session.signal.aborted) throw error;
      session.outage.failed(error);
      await session.outage.over();
    }
  }
}
