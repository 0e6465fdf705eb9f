import type { Client } from '../api/client.ts';
import type { Envelope } from '../api/resource-types.ts';
import type { CreateEnvelopeBody } from '../api/resources.ts';
import { MAX_LIST_LAG_MS } from '../catalog/envelope-list.ts';
import { findByRequestId, repeatUntilListed } from '../catalog/find-by-request-id.ts';
import { requestIdOf } from '../catalog/markers.ts';
import { sentenceOf, UnknownOutcomeError } from '../kernel/errors.ts';
import { isAmbiguous } from '../kernel/request-failures.ts';
import { bodyHashOf, createKey } from '../log/write-keys.ts';
import { graceDeadline, isAborted, sendEnvelope } from './actions/send-or-cancel.ts';
import type { CreateOptions, CreateResult } from './created.ts';
import { findInterrupted } from './interrupted-create.ts';
import { contentIdOf } from './request-identity.ts';

/**
 * Creates an envelope with a request ID that nobody else uses, with one request. After a lost response, the envelope is searched for by
 * the ID, and never created again. A create of the last day with the same body and without an outcome is resolved first.
 * @throws UnknownOutcomeError if the response is lost and the list doesn't show the envelope.
 */
export async function createNow(
  client: Client,
  body: CreateEnvelopeBody,
  options: CreateOptions,
): Promise<CreateResult> {
  const { check, secret, signal } = options;
  const bodyHash = bodyHashOf(body);
  const interrupted = await findInterrupted(client, bodyHash, options);
  if (interrupted !== undefined) {
    const message = `The same command was interrupted before. It had created ${interrupted.id}, so no second envelope was created.`;
    const envelope = await sendIfDraft(client, body, interrupted, signal);
    return { envelope, by: 'earlier', warning: { code: 'INTERRUPTED_CREATE_FOUND', message } };
  }
  await check?.();
  const webhookSecret = await secret?.store();
  const sent = webhookSecret === undefined ? body : { ...body, webhookSecret };
  try {
    const { envelope, by } = await createAndResolve(client, sent, bodyHash, options);
    return { envelope: await sendIfDraft(client, body, envelope, signal), by };
  } catch (error) {
    await secret?.discard(error);
    throw error;
  }
}

/** Sends an envelope that should have been sent immediately, but is a draft. */
async function sendIfDraft(
  client: Client,
  body: CreateEnvelopeBody,
  envelope: Envelope,
  signal: AbortSignal | undefined,
): Promise<Envelope> {
  if (!body.sendImmediately || envelope.status !== 'DRAFT') return envelope;
  return (await sendEnvelope(client, envelope.id, signal)).envelope;
}

async function createAndResolve(
  client: Client,
  body: CreateEnvelopeBody,
  bodyHash: string,
  options: CreateOptions,
): Promise<CreateResult> {
  const requestId = requestIdOf(body) ?? '';
  const once = { key: createKey(client.baseUrl, requestId), body: bodyHash };
  const logged = { once, content: contentIdOf(body) };
  const startedAt = client.clock.now();
  try {
    return { envelope: await client.envelopes.create(body, options.signal, logged), by: 'reply' };
  } catch (error) {
    if (!isAmbiguous(error)) throw error;
    // The request may have waited for the rate limit, so the time in which the list must show the envelope begins now.
    const lostAt = client.clock.now();
    const { found, searchError } = await searchAfterLoss(client, { requestId, startedAt, lostAt }, options);
    if (found === undefined) throw unknownCreate(error, searchError, requestId);
    await (await client.writes()).resolve(requestId, found.id);
    return { envelope: found, by: 'lookup' };
  }
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
    const since = () => client.serviceClock.earliest(startedAt);
    const walk = { since, known: new Set<string>(), signal: deadline.signal };
    const look = () =>
      findByRequestId(client, requestId, walk).catch((error: unknown) => {
        if (deadline.signal.aborted || !(error instanceof Error)) throw error;
        searchError = error;
        return undefined;
      });
    // If the clock was set back since, no time has elapsed.
    const msLeft = () => MAX_LIST_LAG_MS - Math.max(0, client.clock.now() - lostAt);
    return {
      found: await repeatUntilListed(client, look, { msLeft, searching, signal: deadline.signal }),
      searchError,
    };
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
