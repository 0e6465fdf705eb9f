import type { CreateEnvelopeBody } from '../api/envelopes.ts';
import type { Envelope } from '../api/schemas.ts';
import { createBody } from '../envelopes/create.ts';
import { settleAction } from '../envelopes/settle.ts';
import { EsignError, isAmbiguous, NetworkError, ServiceError } from '../kernel/errors.ts';
import { isVoid, ROW_KEY, RUN_KEY } from '../kernel/vocabulary.ts';
import type { BulkRow } from './rows/row.ts';
import { derivedRequestId } from './run-state.ts';
import type { Session } from './session.ts';

/** Brings a row as far as one try can: created, and sent where that is asked for. */
export async function workOnRow(session: Session, row: BulkRow): Promise<void> {
  const { state } = session.run;
  const { mode } = state.head;
  if (state.of(row.row) === 'pending') {
    const envelope = await create(session, row);
    if (envelope === undefined) return;
    if (mode !== 'two-step') {
      const status = envelope.status ?? (mode === 'draft' ? 'DRAFT' : 'SENT');
      return session.done(row.row, envelope.id, status, row.requestId);
    }
    // On disk before it is sent: a sent envelope that the list does not show yet could not be found again.
    await session.created(row.row, envelope.id, row.requestId);
  }
  const id = state.idOf(row.row);
  if (id !== undefined) await send(session, row, id);
}

/** The body of a row's envelope, with the marks by which it is found again. */
function bodyOf(row: BulkRow, { run: { state }, options }: Session): CreateEnvelopeBody {
  const { id, mode } = state.head;
  const metadata = { ...row.envelope.metadata, [RUN_KEY]: id, [ROW_KEY]: row.row };
  const webhookSecret = row.envelope.webhookUrl === undefined ? undefined : options.webhookSecret;
  const requestId = row.requestId ?? derivedRequestId(id, row.row);
  return createBody({ ...row.envelope, webhookSecret, metadata, send: mode === 'one-step' }, requestId);
}

/** The new envelope; undefined when there is none or nobody knows. Asked for again only where it surely never was. */
async function create(session: Session, row: BulkRow): Promise<Envelope | undefined> {
  const { state } = session.run;
  const { client } = session.options;
  const body = bodyOf(row, session);
  for (;;) {
    try {
      return await session.request(false, (signal) => {
        state.mark(row.row, 'maybe');
        return client.envelopes.create(body, signal);
      });
    } catch (error) {
      if (isAmbiguous(error)) {
        session.doubtful = true;
        return undefined;
      }
      if (error instanceof EsignError) state.mark(row.row, 'pending');
      // Surely never received: again, once there is a network.
      if (error instanceof NetworkError) continue;
      const own = session.ofRowAlone(error);
      await session.failed(row.row, own, row.requestId);
      return undefined;
    }
  }
}

/** Sends a draft; what is not settled stays `created` and is tried again, since a second send is refused. */
async function send(session: Session, row: BulkRow, id: string): Promise<void> {
  const envelope = await sendOnce(session, id).catch(async (error: unknown) => {
    if (isAmbiguous(error)) return undefined;
    const own = session.ofRowAlone(error);
    await session.failed(row.row, own, row.requestId);
    return undefined;
  });
  if (envelope === undefined) return;
  if (!isVoid(envelope)) return session.done(row.row, id, statusAfter(envelope), row.requestId);
  const error = new ServiceError('INVALID_STATE', 'The draft was cancelled before it was sent.', {
    status: 400,
  });
  await session.failed(row.row, error, row.requestId);
}

/** The envelope as it stands after it was sent, now or before. */
async function sendOnce(session: Session, id: string): Promise<Envelope> {
  const { envelopes } = session.options.client;
  for (;;) {
    try {
      return await session.request(true, async (signal) => {
        const outcome = await settleAction(
          session.options.client,
          id,
          // Whatever a 2xx carries: the draft was sent.
          async () => (await envelopes.send(id, signal)) ?? { id, status: 'SENT' },
          (envelope) => envelope.status !== 'DRAFT',
          signal,
        );
        if (outcome.kind === 'unknown') throw outcome.error;
        return outcome.value;
      });
    } catch (error) {
      if (isRefusedByState(error)) return session.request(true, (signal) => envelopes.get(id, signal));
      if (!(error instanceof NetworkError) || error.maybeReceived) throw error;
    }
  }
}

/** A reply may still show the draft as it was. */
function statusAfter({ status }: Envelope): string {
  return status === undefined || status === null || status === 'DRAFT' ? 'SENT' : status;
}

function isRefusedByState(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'INVALID_STATE';
}
