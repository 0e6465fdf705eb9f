import type { CreateEnvelopeBody } from '../api/resources.ts';
import type { Envelope } from '../api/schemas.ts';
import type { WriteIdentity } from '../api/write-identity.ts';
import { createBody } from '../envelopes/create.ts';
import { actWithOutcome } from '../envelopes/write-outcome.ts';
import { EsignError, NetworkError, ServiceError, SupersededError } from '../kernel/errors.ts';
import { isAmbiguous, isRefusedByState } from '../kernel/request-failures.ts';
import { isVoid, ROW_KEY, RUN_KEY } from '../kernel/vocabulary.ts';
import { contentHashOf, createKey } from '../log/keys.ts';
import { mayHaveCreated } from '../log/logged-write.ts';
import { newWriteId } from '../log/recorder.ts';
import { resolveByLog } from './row-outcome.ts';
import type { BulkRow } from './rows/row.ts';
import type { BulkSession } from './run-session.ts';
import { derivedRequestId } from './run-state.ts';

/** Makes one attempt to finish a row: creates its envelope and, where the mode of the run requires it, sends the draft. */
export async function processRow(session: BulkSession, row: BulkRow): Promise<void> {
  const { state } = session.run;
  if (state.of(row.row) === 'pending') await createRow(session, row);
  const id = state.of(row.row) === 'created' ? state.idOf(row.row) : undefined;
  if (id !== undefined) await send(session, row, id);
}

/**
 * Creates a row's draft. Returns false if it failed, if its response was lost, or if the row's request ID turned out to have an
 * envelope already.
 */
export async function createRow(session: BulkSession, row: BulkRow): Promise<boolean> {
  const { requestId } = row;
  if (requestId === undefined) return isEnvelope(await create(session, row));
  const { memory, client } = session.options;
  const key = createKey(client.baseUrl, requestId);
  for (;;) {
    const writes = await memory.find([key]);
    const first = writes.find(mayHaveCreated);
    if (first === undefined) {
      const once = { id: newWriteId(), key, content: contentHashOf(row.envelope) };
      const created = await create(session, row, once);
      if (created !== 'superseded') return isEnvelope(created);
    } else if (await resolveByLog(session, { ...row, requestId }, first)) return false;
  }
}

/** `superseded`: the log has an earlier create with the row's request ID. */
type Attempt = Envelope | 'superseded' | undefined;

function isEnvelope(attempt: Attempt): attempt is Envelope {
  return attempt !== undefined && attempt !== 'superseded';
}

/** Returns the body of a row's envelope, including the metadata that identifies the run and the row. */
function bodyOf(row: BulkRow, { run: { state }, options }: BulkSession): CreateEnvelopeBody {
  const { id } = state.head;
  const metadata = { ...row.envelope.metadata, [RUN_KEY]: id, [ROW_KEY]: row.row };
  const webhookSecret = row.envelope.webhookUrl === undefined ? undefined : options.webhookSecret;
  const requestId = row.requestId ?? derivedRequestId(id, row.row);
  return createBody({ ...row.envelope, webhookSecret, metadata, send: false }, requestId);
}

/**
 * Creates a row's envelope and records it. Returns undefined when it failed or its outcome is unknown. Retried only when that is
 * safe.
 */
async function create(session: BulkSession, row: BulkRow, once?: WriteIdentity): Promise<Attempt> {
  const envelope = await requestCreate(session, row, once);
  if (!isEnvelope(envelope)) return envelope;
  const { mode } = session.run.state.head;
  // Record the draft on disk before it is sent. Otherwise, a sent envelope that the list doesn't show yet couldn't be found
  // again.
  const unchecked = session.isSearching || undefined;
  if (mode === 'two-step') await session.created(row.row, envelope.id, row.requestId, { unchecked });
  else await session.done(row.row, envelope.id, envelope.status ?? 'DRAFT', row.requestId);
  return envelope;
}

async function requestCreate(session: BulkSession, row: BulkRow, once?: WriteIdentity): Promise<Attempt> {
  const { state } = session.run;
  const { client } = session.options;
  const body = bodyOf(row, session);
  for (;;) {
    try {
      const begin = (signal: AbortSignal) => {
        state.mark(row.row, 'maybe');
        return client.envelopes.create(body, signal, once);
      };
      return await session.request(begin, { begins: true });
    } catch (error) {
      if (isAmbiguous(error)) {
        session.recordLostResponse(once?.id);
        return undefined;
      }
      if (error instanceof EsignError) state.mark(row.row, 'pending');
      if (error instanceof SupersededError) return 'superseded';
      // The request never reached the service, so retry it once there is a network.
      if (error instanceof NetworkError) continue;
      const own = session.requireRowError(error);
      await session.failed(row, own);
      return undefined;
    }
  }
}

/**
 * Sends a draft. A row whose outcome is unknown stays `created` and is tried again later, since the service refuses a second
 * send.
 */
async function send(session: BulkSession, row: BulkRow, id: string): Promise<void> {
  const envelope = await sendOnce(session, id).catch(async (error: unknown) => {
    if (isAmbiguous(error)) return undefined;
    const own = session.requireRowError(error);
    await session.failed(row, own);
    return undefined;
  });
  if (envelope === undefined) return;
  if (!isVoid(envelope)) return session.done(row.row, id, statusAfter(envelope), row.requestId);
  // A canceled draft of an earlier run has emailed nobody, so the row gets a new envelope.
  if (session.run.state.isAdopted(row.row) && row.requestId === undefined)
    return session.run.state.mark(row.row, 'pending');
  const error = new ServiceError('INVALID_STATE', 'The draft was canceled before it was sent.', {
    status: 400,
  });
  await session.failed(row, error);
}

/** Sends the draft unless it has been sent already, and returns the envelope. */
async function sendOnce(session: BulkSession, id: string): Promise<Envelope> {
  const { envelopes } = session.options.client;
  for (;;) {
    try {
      return await session.request(async (signal) => {
        const outcome = await actWithOutcome(
          session.options.client,
          id,
          // Any 2xx means that the draft was sent, regardless of its body.
          async () => (await envelopes.send(id, signal)) ?? { id, status: 'SENT' },
          (envelope) => envelope.status !== 'DRAFT',
          signal,
        );
        if (outcome.kind === 'unknown') throw outcome.error;
        return outcome.value;
      });
    } catch (error) {
      if (isRefusedByState(error)) {
        const envelope = await session.request((signal) => envelopes.get(id, signal));
        // It was refused for another reason than that it has been sent or canceled already.
        if (envelope.status === 'DRAFT') throw error;
        return envelope;
      }
      if (!(error instanceof NetworkError) || error.maybeReceived) throw error;
    }
  }
}

/** Returns the status after sending. The response may still show the draft's status. */
function statusAfter({ status }: Envelope): string {
  return status === undefined || status === null || status === 'DRAFT' ? 'SENT' : status;
}
