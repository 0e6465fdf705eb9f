import type { Client } from '../api/client.ts';
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

/** Sends a draft. If the reply is lost, the status shows the outcome: an envelope that is no longer a draft was sent. */
export async function sendEnvelope(client: Client, id: string, signal?: AbortSignal): Promise<ActionResult> {
  const outcome = await actWithOutcome(
    client,
    id,
    () => client.envelopes.send(id, signal),
    (envelope) => envelope.status !== 'DRAFT',
    signal,
  );
  if (outcome.kind === 'settled') return { envelope: outcome.value, by: outcome.by };
  throw notKnown(
    `${id} may or may not have been sent`,
    outcome.error,
    `To see its status, run \`${command('envelopes', 'get', id)}\`.`,
  );
}

/** Cancels an envelope. If the reply is lost, the status shows the outcome. */
export async function cancelEnvelope(
  client: Client,
  id: string,
  reason?: string,
  signal?: AbortSignal,
): Promise<ActionResult> {
  const outcome = await actWithOutcome(
    client,
    id,
    () => client.envelopes.cancel(id, reason, signal),
    (envelope) => envelope.status === 'CANCELLED',
    signal,
  );
  if (outcome.kind === 'settled') return { envelope: outcome.value, by: outcome.by };
  throw notKnown(
    `${id} may or may not have been canceled`,
    outcome.error,
    `To see its status, run \`${command('envelopes', 'get', id)}\`.`,
  );
}

/**
 * Reminds pending signers, or the one with this ID or address. It is never retried: no status shows whether a reminder was
 * sent, so after a lost reply, the outcome stays unknown.
 */
export async function remindEnvelope(
  client: Client,
  id: string,
  signer?: string,
  signal?: AbortSignal,
): Promise<ActionResult> {
  const signerId = signer?.includes('@') ? await signerIdOf(client, id, signer, signal) : signer;
  try {
    const told = await client.envelopes.remind(id, signerId, signal);
    return { envelope: told ?? (await readQuietly(client, id, signal)) ?? { id }, by: 'reply' };
  } catch (error) {
    if (!isAmbiguous(error)) throw error;
    throw notKnown(
      `The reminder for ${id} may or may not have been sent`,
      error,
      'Remind again only if a second email does no harm.',
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
