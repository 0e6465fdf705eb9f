import type { Client } from '../api/client.ts';
import { MAX_LIST_LAG_MS } from '../api/recent-pages.ts';
import type { CreateEnvelopeBody } from '../api/resources.ts';
import type { Envelope } from '../api/schemas.ts';
import {
  EsignError,
  isAmbiguous,
  RequestIdUsedError,
  ServiceError,
  sentenceOf,
  UnknownOutcomeError,
} from '../kernel/errors.ts';
import { isTerminal } from '../kernel/vocabulary.ts';
import { readIfExists } from './marked-envelopes.ts';
import { requestIdOf } from './markers.ts';
import type { KnownRequest, LockedRequestId, RequestIds } from './request-ids/request-ids.ts';
import { contentOf, hasSameContent, isOtherContent } from './request-ids/same-content.ts';
import { msUntilListed, type OnSearchStart, searchUntilListed } from './request-ids/search.ts';
import { graceDeadline, isAborted, readQuietly, sendEnvelope } from './write-outcome.ts';

export interface Created {
  envelope: Envelope;
  /** `reply`: just created. `lookup`: created, but the response was lost and a search found it. `earlier`: created by an earlier run. */
  by: 'reply' | 'lookup' | 'earlier';
  warning?: CreateWarning;
}

export interface CreateWarning {
  code: 'REQUEST_ID_NOT_ECHOED' | 'REQUEST_ID_RECORD_DAMAGED';
  message: string;
}

/** Provides the webhook secret of a new envelope. Called while no other process can use the request ID. */
export interface WebhookSecretSource {
  /** Returns the secret, after storing it. */
  store(): Promise<string>;
  /** Removes it if the error shows that no envelope has it. */
  discard(error: unknown): Promise<void>;
}

export interface CreateOptions {
  ids: RequestIds;
  /** The ID may have been used before, on any machine: the list is searched first. */
  rerun: boolean;
  signal?: AbortSignal | undefined;
  /** Called before anything is created. Its errors are passed on. */
  check?: (() => Promise<void>) | undefined;
  /** Not used if an earlier run created the envelope. */
  secret?: WebhookSecretSource | undefined;
  searching?: OnSearchStart | undefined;
}

/**
 * Creates an envelope, at most once for the request ID in its body (`createBody`). The envelope of an earlier run under the same
 * ID is returned; it is found by this machine's record of the ID or, with `rerun`, by searching the list.
 * @throws UnknownOutcomeError when the response was lost and the envelope was not found; RequestIdUsedError when the ID was used
 *   for another template or other signers; ServiceError INVALID_STATE when its envelope was canceled, declined, or expired.
 */
export async function createEnvelope(
  client: Client,
  body: CreateEnvelopeBody,
  options: CreateOptions,
): Promise<Created> {
  const { signal, secret: source } = options;
  const requestId = requestIdOf(body) ?? '';
  const content = contentOf(body);
  const request = await options.ids.lock(requestId, signal);
  try {
    const warning = request.known.state === 'damaged' ? { warning: DAMAGED } : {};
    const earlier = await findEarlier(client, body, { requestId, content, known: request.known }, options);
    if (earlier) {
      await request.made(earlier.id, content);
      // An earlier run may have died between creating a draft and sending it.
      const isUnsent = body.sendImmediately && earlier.status === 'DRAFT';
      const envelope = isUnsent ? (await sendEnvelope(client, earlier.id, signal)).envelope : earlier;
      return { envelope, by: 'earlier', ...warning };
    }
    await options.check?.();
    const secret = await source?.store();
    const bodyWithSecret = secret === undefined ? body : { ...body, webhookSecret: secret };
    try {
      await request.asked(content);
      const created = await createNew(client, { requestId, body: bodyWithSecret }, request, options);
      return { ...warning, ...created };
    } catch (error) {
      await source?.discard(error);
      throw error;
    }
  } finally {
    await request.release();
  }
}

const DAMAGED: CreateWarning = {
  code: 'REQUEST_ID_RECORD_DAMAGED',
  message:
    "This machine's record for the request ID was damaged, so esign searched the service's list instead.",
};

/**
 * Creates an envelope once. After a lost response, searches the list for its request ID until it must have appeared, and never
 * creates it again.
 */
async function createNew(
  client: Client,
  { requestId, body }: { requestId: string; body: CreateEnvelopeBody },
  request: LockedRequestId,
  options: CreateOptions,
): Promise<Created> {
  const { signal } = options;
  const startedAt = client.clock.now();
  let envelope: Envelope;
  try {
    envelope = await client.envelopes.create(body, signal);
  } catch (error) {
    if (error instanceof EsignError && !isAmbiguous(error)) await request.refused();
    if (!isAmbiguous(error)) throw error;
    // The request may have waited for the rate limit, so the time in which the list must show the envelope begins now.
    const lostAt = client.clock.now();
    await request.lost();
    const { found, searchError } = await searchAfterLoss(client, { requestId, startedAt, lostAt }, options);
    if (found === undefined) throw unknownCreate(error, searchError, requestId);
    await (await client.writes()).resolve(requestId, found.id);
    await request.made(found.id);
    return { envelope: found, by: 'lookup' };
  }
  await request.made(envelope.id);
  const isEchoed = await echoes(client, envelope, requestId, signal);
  return { envelope, by: 'reply', ...(isEchoed ? {} : { warning: notEchoed(requestId) }) };
}

/** Searches for an envelope whose response was lost. An abort leaves it a grace period. */
async function searchAfterLoss(
  client: Client,
  { requestId, startedAt, lostAt }: { requestId: string; startedAt: number; lostAt: number },
  { signal, searching }: CreateOptions,
): Promise<{ found?: Envelope | undefined; searchError?: Error | undefined }> {
  const deadline = graceDeadline(client, signal);
  let searchError: Error | undefined;
  try {
    const found = await searchUntilListed(client, requestId, {
      since: () => client.serviceClock.earliest(startedAt),
      msLeft: () => MAX_LIST_LAG_MS - (client.clock.now() - lostAt),
      signal: deadline.signal,
      searching,
      onError: (error) => {
        if (deadline.signal.aborted) throw error;
        searchError = error;
      },
    });
    return { found, searchError };
  } catch (error) {
    if (isAborted(client, signal)) throw error;
    return { searchError };
  } finally {
    deadline.end();
  }
}

function unknownCreate(error: Error, searchError: Error | undefined, requestId: string) {
  const searched = searchError
    ? `Searching for it failed as well: ${sentenceOf(searchError)}`
    : "It is not in the service's list.";
  return new UnknownOutcomeError(
    `The envelope may or may not have been created (request ID ${requestId}). ${sentenceOf(error)} ${searched}`,
    {
      cause: error,
      hint: `Run the same command again with --request-id ${requestId}. It searches first, and creates the envelope only if it doesn't exist.`,
    },
  );
}

/** Returns true if the service returns the request ID, in its response or when the envelope is read. */
async function echoes(
  client: Client,
  envelope: Envelope,
  requestId: string,
  signal?: AbortSignal,
): Promise<boolean> {
  if (requestIdOf(envelope) === requestId) return true;
  const read = await readQuietly(client, envelope.id, signal).catch(() => undefined);
  // A failed read shows nothing about the service.
  return read === undefined ? envelope.metadata === undefined : requestIdOf(read) === requestId;
}

function notEchoed(requestId: string): CreateWarning {
  return {
    code: 'REQUEST_ID_NOT_ECHOED',
    message: `The service does not return the request ID ${requestId} in the envelope's metadata, so only this machine knows that it was used. Elsewhere, the same ID would create a second envelope.`,
  };
}

async function findEarlier(
  client: Client,
  body: CreateEnvelopeBody,
  { requestId, content, known }: { requestId: string; content: string; known: KnownRequest },
  { rerun, signal, searching }: CreateOptions,
): Promise<Envelope | undefined> {
  const made = known.state === 'made' ? await readIfExists(client, known.envelopeId, signal) : undefined;
  if (isOtherContent(known, content)) throw idUsed(requestId, made);
  if (made) return refuseEnded(made, requestId);
  if (known.state === 'new' && !rerun) return undefined;
  const msLeft = () => (known.state === 'new' ? 0 : msUntilListed(client, known));
  const found = await searchUntilListed(client, requestId, { signal, msLeft, searching });
  if (found === undefined) return undefined;
  // This machine's record is exact; without one, the envelope itself shows what the ID was used for.
  const isRecorded = known.state !== 'new' && known.state !== 'damaged';
  if (!isRecorded && !hasSameContent(found, body)) throw idUsed(requestId, found);
  return refuseEnded(found, requestId);
}

function idUsed(requestId: string, envelope: Envelope | undefined): RequestIdUsedError {
  const names = (envelope?.signers ?? []).map(({ name, email, id }) => name || email || id || 'a signer');
  const facts = [...names, envelope?.templateId ?? ''].filter((fact) => fact !== '').join(', ');
  const used = envelope
    ? `for ${envelope.id}${facts === '' ? '' : ` (${facts})`}`
    : 'with a different template or different signers';
  return new RequestIdUsedError(`The request ID ${requestId} was already used ${used}.`, {
    hint: 'Nothing was sent. Use a different request ID for a different envelope.',
  });
}

/** @throws ServiceError INVALID_STATE when nobody can sign the envelope anymore, and it is not completed. */
function refuseEnded(envelope: Envelope, requestId: string): Envelope {
  const status = envelope.status ?? '';
  if (!isTerminal(status) || status === 'COMPLETED') return envelope;
  throw new ServiceError(
    'INVALID_STATE',
    `The request ID ${requestId} belongs to ${envelope.id}, which is ${status}. Nothing was created.`,
    { status: 400, hint: 'To create a new envelope, use a different request ID.' },
  );
}
