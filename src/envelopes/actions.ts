import type { Client } from '../api/client.ts';
import type { Envelope } from '../api/schemas.ts';
import { isAmbiguous, UnknownOutcomeError } from '../kernel/errors.ts';
import { command } from '../kernel/text/shell-words.ts';
import { signersNamed } from './named-signer.ts';
import { type ActionResult, actWithOutcome, readQuietly } from './write-outcome.ts';

/** Statuses that an envelope never leaves (API document, States). */
const ENDED_FOR_GOOD = new Set(['COMPLETED', 'CANCELLED', 'EXPIRED']);

/**
 * Returns true if an envelope in this status may be canceled. The service cancels DECLINED ones, too, but afterward, nothing
 * shows that they were declined.
 */
export function isCancellable(status: string, evenIfDeclined: boolean): boolean {
  return !ENDED_FOR_GOOD.has(status) && (evenIfDeclined || status !== 'DECLINED');
}

/** Sends a draft. If the response is lost, the status shows the outcome: an envelope that is no longer a draft was sent. */
export function sendEnvelope(client: Client, id: string, signal?: AbortSignal): Promise<ActionResult> {
  const send = () => client.envelopes.send(id, signal);
  return act(client, id, { done: 'sent', send, happened: ({ status }) => status !== 'DRAFT' }, signal);
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
  {
    done,
    send,
    happened,
  }: { done: string; send: () => Promise<Envelope | undefined>; happened: (envelope: Envelope) => boolean },
  signal?: AbortSignal,
): Promise<ActionResult> {
  const outcome = await actWithOutcome(client, id, send, happened, signal);
  if (outcome.kind === 'settled') return { envelope: outcome.value, by: outcome.by };
  throw notKnown(
    `${id} may or may not have been ${done}`,
    outcome.error,
    `To see its status, run \`${command('envelopes', 'get', id)}\`.`,
  );
}

/**
 * Reminds pending signers, or the one with this ID or address. It is never retried: no status shows whether a reminder was
 * sent, so after a lost response, the outcome stays unknown.
 */
export async function remindEnvelope(
  client: Client,
  id: string,
  signer?: string,
  signal?: AbortSignal,
): Promise<ActionResult> {
  const signerId = signer?.includes('@') ? await signerIdOf(client, id, signer, signal) : signer;
  try {
    const envelope = await client.envelopes.remind(id, signerId, signal);
    return { envelope: envelope ?? (await readQuietly(client, id, signal)) ?? { id }, by: 'reply' };
  } catch (error) {
    if (!isAmbiguous(error)) throw error;
    throw notKnown(
      `The reminder for ${id} may or may not have been sent`,
      error,
      'Send another reminder only if a second email is acceptable.',
    );
  }
}

async function signerIdOf(client: Client, id: string, email: string, signal?: AbortSignal): Promise<string> {
  const [signer] = signersNamed(await client.envelopes.get(id, signal), email);
  return signer?.id ?? email;
}

function notKnown(what: string, error: Error, hint: string): UnknownOutcomeError {
  return new UnknownOutcomeError(`${what}. ${error.message}`, { cause: error, hint });
}
