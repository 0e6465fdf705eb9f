import type { Envelope } from '../api/schemas.ts';
import { findByRequestId } from '../catalog/find-by-request-id.ts';
import { requestIdOf, runOf } from '../catalog/markers.ts';
import { recordAbsent, resolveEarlier } from '../envelopes/earlier-create.ts';
import { RequestIdUsedError, ServiceError } from '../kernel/errors.ts';
import { hasEnded, isVoid } from '../kernel/vocabulary.ts';
import { contentHashOf } from '../log/keys.ts';
import type { LoggedWrite } from '../log/logged-write.ts';
import { endedMessage } from './lookup/known-rows.ts';
import type { BulkRow } from './rows/row.ts';
import type { BulkSession } from './run-session.ts';

/** Records the envelope that was found for a row. */
export async function recordOutcome(session: BulkSession, row: number, envelope: Envelope): Promise<void> {
  const { state } = session.run;
  const { id, mode } = state.head;
  const requestId = ownRequestId(session, envelope);
  const isOwn = runOf(envelope) === id;
  const status = envelope.status ?? 'SENT';
  if (status === 'DRAFT' && mode !== 'draft') {
    const isKnown = state.idOf(row) === envelope.id && state.of(row) === 'created';
    if (isKnown && !state.isUnchecked(row)) return;
    return session.created(row, envelope.id, requestId, { adopted: !isOwn || undefined });
  }
  if (isOwn) return session.done(row, envelope.id, status, requestId);
  if (hasEnded(envelope)) return session.failed({ row, requestId }, endedEnvelopeError(requestId, envelope));
  return session.existing(row, envelope.id, status, requestId);
}

/** Refuses a row whose request ID belongs to an envelope with another template or other signers. */
export async function refuseUsedId(
  session: BulkSession,
  row: BulkRow,
  id: string | undefined,
): Promise<void> {
  const used = id === undefined ? 'with a different template or different signers' : `for ${id}`;
  const text = `The request ID ${row.requestId ?? ''} was already used ${used}. Use a different one for a different envelope.`;
  await session.failed(row, new RequestIdUsedError(text));
}

/**
 * Resolves a row by the log: `create`, another run, or an earlier process may have created its envelope. Returns false when it is
 * certain that this write created none; another one may have.
 */
export async function resolveByLog(
  session: BulkSession,
  row: BulkRow & { requestId: string },
  write: LoggedWrite,
): Promise<boolean> {
  const { client, memory } = session.options;
  const { requestId } = row;
  const isOpen = write.state !== 'done';
  // This session has searched the list since, or will not create the row again before it has.
  if (isOpen && session.wasSearched(write)) {
    await recordAbsent(memory, write, client);
    return false;
  }
  const envelope = await session.retryAfterOutage(() =>
    resolveEarlier(client, write, { requestId, memory, signal: session.signal }),
  );
  if (envelope === undefined) return false;
  // The recorded envelope may have been the second of two drafts.
  const live = isVoid(envelope)
    ? await session.retryAfterOutage(() => findByRequestId(client, requestId, { signal: session.signal }))
    : undefined;
  const kept = live ?? envelope;
  if (write.intent.content !== contentHashOf(row.envelope)) await refuseUsedId(session, row, kept.id);
  else if (isVoid(kept)) await session.failed(row, endedEnvelopeError(requestId, kept));
  else await recordOutcome(session, row.row, kept);
  return true;
}

function endedEnvelopeError(requestId: string | undefined, { id, status }: Envelope): ServiceError {
  const text = endedMessage({ requestId, id, status: status ?? undefined });
  return new ServiceError('INVALID_STATE', text, { status: 400 });
}

function ownRequestId(session: BulkSession, envelope: Envelope): string | undefined {
  return session.run.state.head.ownRequestIds > 0 ? requestIdOf(envelope) : undefined;
}
