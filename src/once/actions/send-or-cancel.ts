import type { Client } from '../../api/client.ts';
import type { Envelope } from '../../api/resource-types.ts';
import { type Deadline, startDeadline } from '../../kernel/async/deadline.ts';
import { UnknownOutcomeError } from '../../kernel/errors.ts';
import { isAmbiguous, isRefusedByState } from '../../kernel/request-failures.ts';
import { isVoid } from '../../kernel/statuses.ts';
import { command } from '../../kernel/text/shell-words.ts';

/** Determining an outcome may take several requests, so it gets this multiple of the grace period for a response. */
const GRACE_FACTOR = 2;

/** Starts a deadline that outlasts the caller's signal by a grace period, to determine the outcome of a request. */
export function graceDeadline(client: Client, signal: AbortSignal | undefined): Deadline {
  return startDeadline(signal, { graceMs: GRACE_FACTOR * client.graceMs });
}

/** Returns true if the caller has aborted without a grace period. */
export function isAborted({ graceMs }: Client, signal: AbortSignal | undefined): boolean {
  return graceMs === 0 && signal?.aborted === true;
}

/** The envelope after an action. `by`: whether the response or a later read showed it. */
export interface ActionResult {
  envelope: Envelope;
  by: 'reply' | 'lookup';
}

/** Sends or cancels an envelope. `happened` returns true for an envelope that shows it. */
interface Action {
  send: () => Promise<Envelope | undefined>;
  happened: (envelope: Envelope) => boolean;
}

const ACTION_TRIES = 3;
const ACTION_PAUSE_MS = 500;

/**
 * Sends or cancels an envelope, and determines the outcome: after a lost response, it reads the envelope's status. If that shows
 * that nothing happened, it retries, which is safe because a second send or cancel is refused (API document, Envelope states).
 * @throws the error of the lost response (`isAmbiguous`) if the outcome isn't known.
 */
export async function sendOrCancel(
  client: Client,
  id: string,
  action: Action,
  signal?: AbortSignal,
): Promise<ActionResult> {
  let lost: Error | undefined;
  for (let number = 1; ; number++) {
    try {
      if (lost !== undefined) await client.clock.sleep(ACTION_PAUSE_MS * number, signal);
      const done = await actOnce(client, id, action, lost !== undefined, signal);
      if (!(done instanceof Error)) return done;
      lost = done;
    } catch (error) {
      // After an abort, the outcome is that of the attempt before.
      throw lost !== undefined && signal?.aborted && !isAborted(client, signal) ? lost : error;
    }
    if (number === ACTION_TRIES) throw lost;
  }
}

/**
 * Returns the error if the response was lost and the status shows that nothing had happened by then. `again`: an earlier attempt may
 * have succeeded, in which case this one is refused.
 */
async function actOnce(
  client: Client,
  id: string,
  { send, happened }: Action,
  again: boolean,
  signal?: AbortSignal,
): Promise<ActionResult | Error> {
  try {
    return { envelope: (await send()) ?? (await readAfter(client, id, signal)), by: 'reply' };
  } catch (error) {
    const isOpen = isAmbiguous(error) || (again && isRefusedByState(error));
    const envelope = isOpen ? await readQuietly(client, id, signal) : undefined;
    if (envelope && happened(envelope)) {
      await (await client.writes()).resolve(id, id);
      return { envelope, by: 'lookup' };
    }
    if (isAmbiguous(error) && envelope) return error;
    throw error;
  }
}

/** Reads the envelope after a response without a body. */
async function readAfter(client: Client, id: string, signal?: AbortSignal): Promise<Envelope> {
  const deadline = graceDeadline(client, signal);
  try {
    return await client.envelopes.get(id, deadline.signal);
  } catch (error) {
    // The action succeeded, even though the envelope can't be read.
    if (deadline.signal.aborted && !isAborted(client, signal)) return { id };
    throw error;
  } finally {
    deadline.end();
  }
}

/** Returns the envelope; undefined if it can't be read. */
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

/**
 * Sends a draft. If the response is lost, the status shows the outcome: an envelope that is no longer a draft was sent, unless someone
 * canceled the draft at the same time.
 */
export function sendEnvelope(client: Client, id: string, signal?: AbortSignal): Promise<ActionResult> {
  const send = () => client.envelopes.send(id, signal);
  const happened = (envelope: Envelope) => envelope.status !== 'DRAFT' && !isVoid(envelope);
  return act(client, id, { done: 'sent', send, happened }, signal);
}

/** Cancels an envelope. If the response is lost, the status shows the outcome. */
export function cancelEnvelope(
  client: Client,
  id: string,
  reason?: string,
  signal?: AbortSignal,
): Promise<ActionResult> {
  const send = () => client.envelopes.cancel(id, reason, signal);
  return act(
    client,
    id,
    { done: 'canceled', send, happened: ({ status }) => status === 'CANCELLED' },
    signal,
  );
}

async function act(
  client: Client,
  id: string,
  { done, ...action }: Action & { done: string },
  signal?: AbortSignal,
): Promise<ActionResult> {
  try {
    return await sendOrCancel(client, id, action, signal);
  } catch (error) {
    if (!isAmbiguous(error)) throw error;
    throw unknownOutcomeError(
      `${id} may or may not have been ${done}`,
      error,
      `To see its status, run \`${command('envelopes', 'get', id)}\`.`,
    );
  }
}

/** Returns the error for a write that may or may not have been done. */
export function unknownOutcomeError(what: string, error: Error, hint: string): UnknownOutcomeError {
  return new UnknownOutcomeError(`${what}. ${error.message}`, { cause: error, hint });
}
