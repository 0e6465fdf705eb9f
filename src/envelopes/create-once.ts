import type { Client } from '../api/client.ts';
import type { CreateEnvelopeBody } from '../api/resources.ts';
import type { Envelope } from '../api/schemas.ts';
import type { WriteIdentity } from '../api/write-identity.ts';
import { MAX_LIST_LAG_MS } from '../catalog/envelope-list.ts';
import { findByRequestId, type OnSearchStart, repeatUntilListed } from '../catalog/find-by-request-id.ts';
import { requestIdOf } from '../catalog/markers.ts';
import { KeyedQueue } from '../kernel/async/keyed-queue.ts';
import {
  RequestIdUsedError,
  ServiceError,
  SupersededError,
  sentenceOf,
  UnknownOutcomeError,
  UsageError,
} from '../kernel/errors.ts';
import { isAmbiguous } from '../kernel/request-failures.ts';
import { nameOf } from '../kernel/text/person.ts';
import { hasEnded, isVoid, REQUEST_ID_KEY } from '../kernel/vocabulary.ts';
import { bodyHashOf, contentHashOf, createKey } from '../log/keys.ts';
import { type LoggedWrite, mayHaveCreated } from '../log/logged-write.ts';
import type { WriteMemory } from '../log/write-memory.ts';
import { findInterrupted, resolveEarlier } from './earlier-create.ts';
import { hasSameContent } from './same-content.ts';
import { graceDeadline, isAborted, readQuietly, sendEnvelope } from './write-outcome.ts';

export interface Created {
  envelope: Envelope;
  /** `reply`: just created. `lookup`: created, but the response was lost and a search found it. `earlier`: created by an earlier run. */
  by: 'reply' | 'lookup' | 'earlier';
  warning?: CreateWarning;
}

export interface CreateWarning {
  code: 'REQUEST_ID_NOT_ECHOED' | 'INTERRUPTED_CREATE_FOUND';
  message: string;
}

/** Provides the webhook secret of a new envelope. */
export interface WebhookSecretSource {
  /** Returns the secret, after storing it. */
  store(): Promise<string>;
  /** Removes it if the error shows that no envelope has it. */
  discard(error: unknown): Promise<void>;
}

export interface CreateOptions {
  memory: WriteMemory;
  /** The ID may have been used before, on any machine: the list is searched first, unless the log knows the ID. */
  rerun: boolean;
  /** Resolves a create of the last day with the same content whose outcome isn't known, and returns its envelope. */
  resumesInterrupted?: boolean;
  /** An earlier envelope that was canceled as a draft counts as absent. */
  ignoresVoid?: boolean;
  signal?: AbortSignal | undefined;
  /** Called before anything is created. Its errors are passed on. */
  check?: (() => Promise<void>) | undefined;
  /** Not used if an earlier run created the envelope. */
  secret?: WebhookSecretSource | undefined;
  searching?: OnSearchStart | undefined;
}

/** Calls in this process with the same key take turns. */
const queue = new KeyedQueue();

/**
 * Creates an envelope, at most once for the request ID in its body (`createBody`). The envelope of an earlier run under the same
 * ID is returned; the log of writes knows it, or, with `rerun`, the service's list.
 * @throws UnknownOutcomeError when it isn't known whether an earlier request or this one created the envelope; RequestIdUsedError
 *   when the ID was used for another template or other signers; ServiceError INVALID_STATE when its envelope was canceled,
 *   declined, or expired.
 */
export function createEnvelope(
  client: Client,
  body: CreateEnvelopeBody,
  options: CreateOptions,
): Promise<Created> {
  const requestId = requestIdOf(body) ?? '';
  if (requestId.trim() === '')
    return Promise.reject(
      new UsageError('The request ID is empty.', {
        hint: 'Use a value that identifies this envelope, such as an order number, or leave the request ID out.',
      }),
    );
  const key = createKey(client.baseUrl, requestId);
  return queue.run(
    `${options.memory.place} ${key}`,
    () => createInTurn(client, body, key, options),
    options.signal,
  );
}

async function createInTurn(
  client: Client,
  body: CreateEnvelopeBody,
  key: string,
  options: CreateOptions,
): Promise<Created> {
  const requestId = requestIdOf(body) ?? '';
  const once = { key, content: contentHashOf(body), body: bodyHashOf(body, REQUEST_ID_KEY) };
  for (;;) {
    const earlier = await findEarlier(client, body, { requestId, once }, options);
    if (earlier === 'look again') continue;
    if (earlier !== undefined) return finishEarlier(client, body, earlier, options.signal);
    await options.check?.();
    try {
      return await createNew(client, { requestId, body, once }, options);
    } catch (error) {
      // Another process was first. Its envelope is the result, and the stored secret may be its own.
      if (error instanceof SupersededError) continue;
      await options.secret?.discard(error);
      throw error;
    }
  }
}

interface Wanted {
  requestId: string;
  once: WriteIdentity & { content: string; body: string };
}

/** Returns the envelope of an earlier create, `look again` after one turned out to have none, or undefined without one. */
async function findEarlier(
  client: Client,
  body: CreateEnvelopeBody,
  { requestId, once }: Wanted,
  options: CreateOptions,
): Promise<Earlier | 'look again' | undefined> {
  const { memory, rerun, resumesInterrupted, signal, searching } = options;
  const writes = await memory.find(resumesInterrupted ? [once.key, once.body] : [once.key]);
  const first = writes.find((write) => write.intent.key === once.key && mayHaveCreated(write));
  if (first !== undefined) {
    const envelope = await resolveEarlier(client, first, { requestId, ...options });
    if (envelope === undefined) return 'look again';
    if (!isSameContent(first, once.content, envelope, body)) throw idUsed(requestId, envelope);
    return { envelope: refuseEnded(envelope, requestId) };
  }
  if (resumesInterrupted) {
    const interrupted = await findInterrupted(client, once.body, writes, options);
    if (interrupted !== undefined) return { envelope: interrupted, warning: interruptedWarning(interrupted) };
  }
  if (!rerun) return undefined;
  const look = () => findByRequestId(client, requestId, { signal });
  const found = await repeatUntilListed(client, look, { msLeft: () => 0, searching, signal });
  if (found === undefined || (options.ignoresVoid && isVoid(found))) return undefined;
  if (!hasSameContent(found, body)) throw idUsed(requestId, found);
  return { envelope: refuseEnded(found, requestId) };
}

/** Writes of `api` have no content in the log, so their envelope is compared. */
function isSameContent(
  { intent }: LoggedWrite,
  content: string,
  envelope: Envelope,
  body: CreateEnvelopeBody,
): boolean {
  return intent.content === undefined ? hasSameContent(envelope, body) : intent.content === content;
}

interface Earlier {
  envelope: Envelope;
  warning?: CreateWarning;
}

/** Sends the envelope if an earlier run ended between creating a draft and sending it. */
async function finishEarlier(
  client: Client,
  body: CreateEnvelopeBody,
  { envelope, warning }: Earlier,
  signal: AbortSignal | undefined,
): Promise<Created> {
  const isUnsent = body.sendImmediately && envelope.status === 'DRAFT';
  const finished = isUnsent ? (await sendEnvelope(client, envelope.id, signal)).envelope : envelope;
  return { envelope: finished, by: 'earlier', ...(warning ? { warning } : {}) };
}

/**
 * Creates an envelope once. After a lost response, searches the list for its request ID until it must have appeared, and never
 * creates it again.
 */
async function createNew(
  client: Client,
  { requestId, body, once }: Wanted & { body: CreateEnvelopeBody },
  options: CreateOptions,
): Promise<Created> {
  const { signal } = options;
  const secret = await options.secret?.store();
  const bodyWithSecret = secret === undefined ? body : { ...body, webhookSecret: secret };
  const startedAt = client.clock.now();
  let envelope: Envelope;
  try {
    envelope = await client.envelopes.create(bodyWithSecret, signal, once);
  } catch (error) {
    if (!isAmbiguous(error)) throw error;
    // The request may have waited for the rate limit, so the time in which the list must show the envelope begins now.
    const lostAt = client.clock.now();
    const { found, searchError } = await searchAfterLoss(client, { requestId, startedAt, lostAt }, options);
    if (found === undefined) throw unknownCreate(error, searchError, requestId);
    await (await client.writes()).resolve(requestId, found.id);
    return { envelope: found, by: 'lookup' };
  }
  const isEchoed = await returnsRequestId(client, envelope, requestId, signal);
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

/** Returns true if the service returns the request ID, in its response or when the envelope is read. */
async function returnsRequestId(
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

function interruptedWarning({ id }: Envelope): CreateWarning {
  return {
    code: 'INTERRUPTED_CREATE_FOUND',
    message: `The same command was interrupted before. It had created ${id}, so no second envelope was created.`,
  };
}

function idUsed(requestId: string, envelope: Envelope | undefined): RequestIdUsedError {
  const names = (envelope?.signers ?? []).map(nameOf);
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
  if (!hasEnded(envelope)) return envelope;
  throw new ServiceError(
    'INVALID_STATE',
    `The request ID ${requestId} belongs to ${envelope.id}, which is ${envelope.status ?? ''}. Nothing was created.`,
    { status: 400, hint: 'To create a new envelope, use a different request ID.' },
  );
}
