import type { EnvelopeRecord, SignerRecord } from '../../model.ts';
import { invalidState, notFound } from '../base/errors.ts';

/* Where an envelope and its signers stand: questions, no moves. */

/** Active: out with signers and not ended. Only an active envelope expires or is signed. */
export function isActive(envelope: EnvelopeRecord): boolean {
  return envelope.status === 'SENT' || envelope.status === 'IN_PROGRESS';
}

/** True when an active envelope has reached its expiresAt; one that all have signed no longer expires. */
export function isDue(envelope: EnvelopeRecord, now: number): boolean {
  return isActive(envelope) && !isFinalising(envelope) && Date.parse(envelope.expiresAt) <= now;
}

/** How long a delayed finalisation takes. */
export const FINALISING_MS = 5000;

/** Signed by all and not yet COMPLETED. */
export function isFinalising(envelope: EnvelopeRecord): boolean {
  return envelope.status === 'IN_PROGRESS' && envelope.signers.every((signer) => signer.status === 'SIGNED');
}

/** When the last signature came, in ms since the epoch. */
export function lastSignedAt(envelope: EnvelopeRecord): number {
  return Math.max(...envelope.signers.map((signer) => Date.parse(signer.signedAt ?? envelope.createdAt)));
}

/** Whose turn it is: the first in signing order that was asked and has not answered. */
export function nextSigner(envelope: EnvelopeRecord): SignerRecord | undefined {
  return envelope.signers.filter(hasTurn).sort((a, b) => a.order - b.order)[0];
}

/** Asked and not answered yet. */
export function hasTurn(signer: SignerRecord): boolean {
  return signer.status === 'SENT' || signer.status === 'VIEWED';
}

/** A signer of the envelope; NOT_FOUND otherwise. */
export function signerOf(envelope: EnvelopeRecord, signerId: string): SignerRecord {
  const signer = envelope.signers.find((one) => one.id === signerId);
  if (!signer) throw notFound('Signer');
  return signer;
}

/** The signer of an active envelope who can view, sign or decline now; NOT_FOUND or INVALID_STATE otherwise. */
export function requireOpen(envelope: EnvelopeRecord, signerId: string): SignerRecord {
  const signer = signerOf(envelope, signerId);
  if (!isActive(envelope)) throw invalidState(`Envelope is ${envelope.status}; nobody can sign it now`);
  return requireTurn(envelope, signer);
}

/** The signer when it is the signer's turn; INVALID_STATE with the reason otherwise. */
export function requireTurn(envelope: EnvelopeRecord, signer: SignerRecord): SignerRecord {
  if (hasTurn(signer)) return signer;
  if (signer.status === 'SIGNED') throw invalidState(`${signer.name} has already signed`);
  if (signer.status === 'DECLINED') throw invalidState(`${signer.name} has declined`);
  const first = nextSigner(envelope);
  throw invalidState(`It is not the turn of ${signer.name} yet${first ? `: ${first.name} comes first` : ''}`);
}

/** The id of the signer meant. NOT_FOUND for a stranger, INVALID_STATE when it is nobody's turn. */
export function signerMeant(envelope: EnvelopeRecord, who: string | null): string {
  if (who === null) {
    const next = nextSigner(envelope);
    if (!next || !isActive(envelope))
      throw invalidState(`Envelope is ${envelope.status}; it is nobody's turn to sign`);
    return next.id;
  }
  const address = who.toLowerCase();
  const meant = envelope.signers.filter((one) => one.id === who || one.email.toLowerCase() === address);
  const signer = meant.find((one) => one.status === 'SENT' || one.status === 'VIEWED') ?? meant[0];
  if (!signer) throw notFound('Signer');
  return signer.id;
}
