import type { Client } from '../api/client.ts';
import type { CreateEnvelopeBody } from '../api/envelopes.ts';
import { LISTED_AFTER_MS } from '../api/recent-pages.ts';
import type { Envelope } from '../api/schemas.ts';
import { type Deadline, startDeadline } from '../kernel/deadline.ts';
import { isAmbiguous, isRefusedByState } from '../kernel/errors.ts';
import { type Searching, searchUntilListed } from './request-ids/search.ts';

/** What became of a write: we know, or the reply was lost and looking did not settle it. */
export type WriteOutcome<T> =
  | { kind: 'settled'; value: T /** How we know. */; by: 'reply' | 'lookup' }
  | { kind: 'unknown'; error: Error };

/** The outcome of a create; where it is unknown, also why the search for the envelope failed, if it did. */
export type CreateWriteOutcome = WriteOutcome<Envelope> & { searchError?: Error };

/**
 * Creates an envelope once. After a lost reply it is searched for by its request ID until it must have appeared in the list,
 * and never created again. `searching` is called when the search begins.
 * @throws whatever the service answered, when it is certain that nothing was created.
 */
export async function createWithOutcome(
  client: Client,
  body: CreateEnvelopeBody,
  requestId: string,
  { signal, searching }: { signal?: AbortSignal | undefined; searching?: Searching | undefined } = {},
): Promise<CreateWriteOutcome> {
  const startedAt = client.clock.now();
  try {
    return { kind: 'settled', value: await client.envelopes.create(body, signal), by: 'reply' };
  } catch (error) {
    if (!isAmbiguous(error)) throw error;
    const { found, searchError } = await searchAfterLoss(
      client,
      { requestId, startedAt },
      { signal, searching },
    );
    if (found) {
      await client.writes.resolve({ requestId }, found.id);
      return { kind: 'settled', value: found, by: 'lookup' };
    }
    return { kind: 'unknown', error, ...(searchError ? { searchError } : {}) };
  }
}

/** Searches for what a lost reply may have created; a stop leaves it a moment longer. */
async function searchAfterLoss(
  client: Client,
  { requestId, startedAt }: { requestId: string; startedAt: number },
  { signal, searching }: { signal?: AbortSignal | undefined; searching?: Searching | undefined },
): Promise<{ found?: Envelope | undefined; searchError?: Error | undefined }> {
  const deadline = graceDeadline(client, signal);
  let searchError: Error | undefined;
  try {
    const found = await searchUntilListed(client, requestId, {
      since: () => client.serviceClock.earliest(startedAt),
      msLeft: () => LISTED_AFTER_MS - (client.clock.now() - startedAt),
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

/** How often the grace for a reply the looking for what became of a write has: it may take several requests. */
const GRACE_FACTOR = 2;

/** What was sent is looked after for a moment longer than the caller's signal. */
function graceDeadline(client: Client, signal: AbortSignal | undefined): Deadline {
  return startDeadline(signal, { graceMs: GRACE_FACTOR * client.graceMs });
}

/** The caller wants no word of what was under way. */
function isAborted({ graceMs }: Client, signal: AbortSignal | undefined): boolean {
  return graceMs === 0 && signal?.aborted === true;
}

/** What acting on an envelope came to, and whether the reply told or the envelope's state. */
export interface ActionResult {
  envelope: Envelope;
  by: 'reply' | 'lookup';
}

const ACTION_TRIES = 3;
const ACTION_PAUSE_MS = 500;

/**
 * Sends or cancels, and knows what came of it: a lost reply is settled by reading the envelope's state. Where the state
 * shows that nothing happened it is tried again, which is safe: a second send or cancel is refused (API document,
 * Envelope states).
 */
export async function actWithOutcome(
  client: Client,
  id: string,
  act: () => Promise<Envelope | undefined>,
  happened: (envelope: Envelope) => boolean,
  signal?: AbortSignal,
): Promise<WriteOutcome<Envelope>> {
  let attempt = await actOnce(client, id, { act, happened, again: false }, signal);
  for (let number = 2; attempt.nothingHappened && number <= ACTION_TRIES; number++) {
    try {
      await client.clock.sleep(ACTION_PAUSE_MS * number, signal);
      attempt = await actOnce(client, id, { act, happened, again: true }, signal);
    } catch (error) {
      // No further try; what the last one came to stays as it is.
      if (!signal?.aborted || isAborted(client, signal)) throw error;
      break;
    }
  }
  return attempt.outcome;
}

interface ActionAttempt {
  outcome: WriteOutcome<Envelope>;
  /** The reply was lost, and the state shows that the service had done nothing by then. */
  nothingHappened: boolean;
}

async function actOnce(
  client: Client,
  id: string,
  action: {
    act: () => Promise<Envelope | undefined>;
    happened: (envelope: Envelope) => boolean;
    /** An earlier try may have done it, so that this one is refused. */
    again: boolean;
  },
  signal?: AbortSignal,
): Promise<ActionAttempt> {
  const settled = (value: Envelope, by: 'reply' | 'lookup'): ActionAttempt => ({
    outcome: { kind: 'settled', value, by },
    nothingHappened: false,
  });
  try {
    return settled((await action.act()) ?? (await readAfter(client, id, signal)), 'reply');
  } catch (error) {
    const isOpen = isAmbiguous(error) || (action.again && isRefusedByState(error));
    const envelope = isOpen ? await readQuietly(client, id, signal) : undefined;
    if (envelope && action.happened(envelope)) {
      await client.writes.resolve({ envelopeId: id }, id);
      return settled(envelope, 'lookup');
    }
    if (!isAmbiguous(error)) throw error;
    return { outcome: { kind: 'unknown', error }, nothingHappened: envelope !== undefined };
  }
}

/** The state after a reply that told nothing of it. */
async function readAfter(client: Client, id: string, signal?: AbortSignal): Promise<Envelope> {
  const deadline = graceDeadline(client, signal);
  try {
    return await client.envelopes.get(id, deadline.signal);
  } catch (error) {
    // It was done, whatever else is not known.
    if (deadline.signal.aborted && !isAborted(client, signal)) return { id };
    throw error;
  } finally {
    deadline.end();
  }
}

/** The envelope, or undefined when reading it fails as well. */
export async function readQuietly(
  client: Client,
  id: string,
  signal?: AbortSignal,
): Promise<Envelope | undefined> {
  const deadline = graceDeadline(client, signal);
  try {
    return await client.envelopes.get(id, deadline.signal);
  } catch (error) {
    if (isAborted(client, signal)) throw error;
    return undefined;
  } finally {
    deadline.end();
  }
}
