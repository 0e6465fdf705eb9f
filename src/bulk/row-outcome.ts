import type { Envelope } from '../api/schemas.ts';
import { markedEnvelopes, readIfExists } from '../envelopes/marked-envelopes.ts';
import { requestIdOf } from '../envelopes/markers.ts';
import type { KnownRequest } from '../envelopes/request-ids/request-ids.ts';
import { contentOf, hasSameContent, isOtherContent } from '../envelopes/request-ids/same-content.ts';
import { msUntilListed, searchUntilListed } from '../envelopes/request-ids/search.ts';
import { RequestIdUsedError, ServiceError } from '../kernel/errors.ts';
import { isTerminal, isVoid } from '../kernel/vocabulary.ts';
import { endedMessage } from './lookup/known-rows.ts';
import { isOf } from './lookup/survey.ts';
import type { BulkRow } from './rows/row.ts';
import type { BulkSession } from './session.ts';

/** Records the envelope that was found for a row. */
export async function recordOutcome(session: BulkSession, row: number, envelope: Envelope): Promise<void> {
  const { state } = session.run;
  const { id, mode } = state.head;
  const requestId = ownRequestId(session, envelope);
  const isOwn = isOf(id, envelope);
  const status = envelope.status ?? 'SENT';
  if (status === 'DRAFT' && mode !== 'draft') {
    if (state.idOf(row) === envelope.id && state.of(row) === 'created') return;
    return session.created(row, envelope.id, requestId, { adopted: !isOwn });
  }
  if (isOwn) return session.done(row, envelope.id, status, requestId);
  if (isTerminal(status) && status !== 'COMPLETED')
    return session.failed({ row, requestId }, ended(requestId, envelope));
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
 * Settles a row from this machine's record of its request ID: `create`, another run, or an earlier process may have created its
 * envelope. Returns false when it is certain that none did.
 */
export async function resolveByRequestId(
  session: BulkSession,
  row: BulkRow & { requestId: string },
  known: KnownRequest,
): Promise<boolean> {
  const isRecorded = 'content' in known && known.content !== '';
  if (isOtherContent(known, contentOf(row.envelope))) {
    await refuseUsedId(session, row, known.state === 'made' ? known.envelopeId : undefined);
    return true;
  }
  const envelope = await findRecorded(session, row.requestId, known);
  if (envelope === undefined) return false;
  if (!isRecorded && !hasSameContent(envelope, row.envelope)) await refuseUsedId(session, row, envelope.id);
  else if (isVoid(envelope)) await session.failed(row, ended(row.requestId, envelope));
  else await recordOutcome(session, row.row, envelope);
  return true;
}

async function findRecorded(
  session: BulkSession,
  requestId: string,
  known: KnownRequest,
): Promise<Envelope | undefined> {
  const { signal } = session;
  const { client } = session.options;
  if (known.state === 'made') {
    const made = await session.retryAfterOutage(() => readIfExists(client, known.envelopeId, signal));
    if (made === undefined || !isVoid(made)) return made;
    // The recorded envelope may have been the second of two drafts.
    return (await session.retryAfterOutage(() => findLive(session, requestId))) ?? made;
  }
  if (known.state === 'new' || session.resolvedIds.has(requestId)) return undefined;
  const msLeft = () => msUntilListed(client, known);
  return session.retryAfterOutage(() => searchUntilListed(client, requestId, { signal, msLeft }));
}

async function findLive({ options, signal }: BulkSession, requestId: string): Promise<Envelope | undefined> {
  for await (const envelope of markedEnvelopes(options.client, { signal }))
    if (requestIdOf(envelope) === requestId && !isVoid(envelope)) return envelope;
  return undefined;
}

function ended(requestId: string | undefined, { id, status }: Envelope): ServiceError {
  const text = endedMessage({ requestId, id, status: status ?? undefined });
  return new ServiceError('INVALID_STATE', text, { status: 400 });
}

function ownRequestId(session: BulkSession, envelope: Envelope): string | undefined {
  return session.run.state.head.ownRequestIds > 0 ? requestIdOf(envelope) : undefined;
}
