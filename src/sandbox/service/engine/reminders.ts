import type { EnvelopeRecord, SignerRecord } from '../../model.ts';
import { DEFAULT_RULES, type Rules } from '../base/choices.ts';
import { invalidState } from '../base/errors.ts';
import { isoTime } from '../base/sandbox-clock.ts';
import type { LifecycleStep } from './lifecycle.ts';
import { hasTurn, isActive, requireTurn, signerOf } from './predicates.ts';

/** Sends a reminder to one pending signer, or, if `signerId` is null, to all signers whose turn it is. */
export function remind(
  envelope: EnvelopeRecord,
  signerId: string | null,
  now: number,
  rules: Rules = DEFAULT_RULES,
): LifecycleStep {
  const one = signerId === null ? null : signerOf(envelope, signerId);
  if (!isActive(envelope))
    throw invalidState(`Envelope is ${envelope.status}; only active envelopes have reminders`);
  const pending = one === null ? envelope.signers.filter(hasTurn) : [requireTurn(envelope, one)];
  const gap = REMINDER_GAP_MS[rules['reminder-gap']];
  const asked = pending.filter((signer) => now - lastReminded(envelope, signer) >= gap);
  if (asked.length === 0)
    throw invalidState(
      pending.length === 0
        ? 'No signer is pending'
        : `A signer can be reminded only once every ${rules['reminder-gap']}; try again later`,
    );
  const at = isoTime(now);
  const history = [...envelope.history];
  for (const signer of asked) history.push({ at, what: 'reminded', signerId: signer.id, detail: null });
  return {
    envelope: { ...envelope, history },
    events: [],
    mails: asked.map((signer) => ({ kind: 'reminder', signerId: signer.id })),
  };
}

const REMINDER_GAP_MS: Record<Rules['reminder-gap'], number> = {
  none: 0,
  '1h': 3_600_000,
  '24h': 86_400_000,
};

function lastReminded(envelope: EnvelopeRecord, signer: SignerRecord): number {
  const entry = envelope.history.findLast((one) => one.what === 'reminded' && one.signerId === signer.id);
  return entry ? Date.parse(entry.at) : Number.NEGATIVE_INFINITY;
}
