import type { EnvelopeRecord, SignerRecord } from '../../model.ts';
import { ApiError, invalidState, notFound } from '../base/errors.ts';

/* Predicates for the status of an envelope and its signers. They change nothing. */

/** Returns true if an envelope is with its signers and has not ended. Only an active envelope can expire or be signed. */
export function isActive(envelope: EnvelopeRecord): boolean {
  return envelope.status === 'SENT' || envelope.status === 'IN_PROGRESS';
}

/** Returns true if an active envelope has reached its expiresAt. An envelope that everyone has signed no longer expires. */
export function isDue(envelope: EnvelopeRecord, now: number): boolean {
  return isActive(envelope) && !isFinalizing(envelope) && Date.parse(envelope.expiresAt) <= now;
}

/** The duration of a delayed completion, in ms. */
export const FINALIZING_MS = 5000;

/** Returns true if everyone has signed but the envelope isn't COMPLETED yet. */
export function isFinalizing(envelope: EnvelopeRecord): boolean {
  return envelope.status === 'IN_PROGRESS' && envelope.signers.every((signer) => signer.status === 'SIGNED');
}

/** Returns the time of the last signature, in ms since the epoch. */
export function lastSignedAt(envelope: EnvelopeRecord): number {
  return Math.max(...envelope.signers.map((signer) => Date.parse(signer.signedAt ?? envelope.createdAt)));
}

/** Returns the next signer: the first in signing order who was notified and has neither signed nor declined. */
export function nextSigner(envelope: EnvelopeRecord): SignerRecord | undefined {
  return envelope.signers.filter(hasTurn).sort((a, b) => a.order - b.order)[0];
}

/** Returns true if a signer was notified and has neither signed nor declined. */
export function hasTurn(signer: SignerRecord): boolean {
  return signer.status === 'SENT' || signer.status === 'VIEWED';
}

/** Returns a signer of the envelope. Throws NOT_FOUND if the envelope has no signer with this ID. */
export function signerOf(envelope: EnvelopeRecord, signerId: string): SignerRecord {
  const signer = envelope.signers.find((one) => one.id === signerId);
  if (!signer) throw notFound('Signer');
  return signer;
}

/** Returns a signer of an active envelope who can view, sign, or decline now. Throws NOT_FOUND or INVALID_STATE otherwise. */
export function requireOpen(envelope: EnvelopeRecord, signerId: string): SignerRecord {
  const signer = signerOf(envelope, signerId);
  if (!isActive(envelope)) throw invalidState(`Envelope is ${envelope.status}; it can't be signed now`);
  return requireTurn(envelope, signer);
}

/** Returns the signer if it is the signer's turn. Throws INVALID_STATE with the reason otherwise. */
export function requireTurn(envelope: EnvelopeRecord, signer: SignerRecord): SignerRecord {
  if (hasTurn(signer)) return signer;
  if (signer.status === 'SIGNED') throw invalidState(`${signer.name} has already signed`);
  if (signer.status === 'DECLINED') throw invalidState(`${signer.name} has declined`);
  const first = nextSigner(envelope);
  throw invalidState(`It is not ${signer.name}'s turn yet${first ? `: ${first.name} signs first` : ''}`);
}

/**
 * Returns the ID of the signer with an ID or email address, or of the next signer. Throws NOT_FOUND for an unknown signer, INVALID_STATE if
 * nobody is left to sign.
 */
export function findSigner(envelope: EnvelopeRecord, who: string | null): string {
  if (who === null) {
    const next = nextSigner(envelope);
    if (!next || !isActive(envelope))
      throw invalidState(`Envelope is ${envelope.status}; it is no one's turn to sign`);
    return next.id;
  }
  const address = who.toLowerCase();
  const matching = envelope.signers.filter((one) => one.id === who || one.email.toLowerCase() === address);
  const signer = matching.find(hasTurn) ?? matching[0];
  const known = envelope.signers.map(({ email }) => email).join(', ');
  if (!signer) throw new ApiError('NOT_FOUND', `${who} is not one of the signers: ${known}`);
  return signer.id;
}
