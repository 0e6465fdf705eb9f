import { ownValue } from './json.ts';

/** The statuses of envelopes and signers, and what follows from them (API document, States). */

export const ENVELOPE_STATUSES = [
  'DRAFT',
  'SENT',
  'IN_PROGRESS',
  'COMPLETED',
  'CANCELLED',
  'EXPIRED',
  'DECLINED',
] as const;
export type DocumentedStatus = (typeof ENVELOPE_STATUSES)[number];

/** The statuses that can follow each status. DRAFT is missing, because any status can follow it. */
const FOLLOWING: Readonly<Record<Exclude<DocumentedStatus, 'DRAFT'>, readonly DocumentedStatus[]>> = {
  SENT: ['IN_PROGRESS', 'COMPLETED', 'CANCELLED', 'EXPIRED', 'DECLINED'],
  IN_PROGRESS: ['COMPLETED', 'CANCELLED', 'EXPIRED', 'DECLINED'],
  COMPLETED: [],
  CANCELLED: [],
  EXPIRED: [],
  DECLINED: ['CANCELLED'],
};

/** Returns the statuses that can follow a status; undefined if any can, as after one that the API document doesn't name. */
export function followingStatuses(status: string): readonly DocumentedStatus[] | undefined {
  return ownValue<readonly DocumentedStatus[]>(FOLLOWING, status);
}

/** Returns true for a status that an envelope never leaves. A DECLINED one can still be canceled. */
export function isFinal(status: string): boolean {
  return followingStatuses(status)?.length === 0;
}

/** Returns true for a status that neither a signer nor time can change. An unknown status is not terminal. */
export function isTerminal(status: string): boolean {
  return isFinal(status) || status === 'DECLINED';
}

/** Returns true for an envelope that nobody can sign anymore and that is not completed. */
export function hasEnded({ status }: { status?: string | null | undefined }): boolean {
  return isTerminal(status ?? '') && status !== 'COMPLETED';
}

/** Statuses in which signers are asked to sign. */
export const IN_FLIGHT = ['SENT', 'IN_PROGRESS'] as const satisfies readonly DocumentedStatus[];

/** Returns true for an envelope that was canceled before anyone was emailed. */
export function isVoid(envelope: {
  status?: string | null | undefined;
  sentAt?: string | null | undefined;
}): boolean {
  const { status, sentAt } = envelope;
  return status === 'CANCELLED' && !sentAt;
}

/** Returns true for an envelope that waits for signers and can expire. */
export function isInFlight(status: string | null | undefined): boolean {
  return IN_FLIGHT.some((one) => one === status);
}

/* What the service allows in each status (API document, States). If the document doesn't name the status, the service decides. */
export function canBeSent(status: string | null | undefined): boolean {
  return status === 'DRAFT' || !isDocumented(status);
}
export function canBeReminded(status: string | null | undefined): boolean {
  return isInFlight(status) || !isDocumented(status);
}
/** A DECLINED envelope can be canceled, too, but afterward, nothing shows that it was declined. */
export function canBeCanceled(status: string, evenIfDeclined: boolean): boolean {
  return evenIfDeclined ? !isFinal(status) : !isTerminal(status);
}

function isDocumented(status: string | null | undefined): boolean {
  return ENVELOPE_STATUSES.some((known) => known === status);
}

/** A signer's status and times. The API document doesn't list the statuses, so a service may have others. */
interface SignerProgress {
  status?: string | null | undefined;
  signedAt?: string | null | undefined;
  declinedAt?: string | null | undefined;
}

export function hasSigned({ status, signedAt }: SignerProgress): boolean {
  return status === 'SIGNED' || status === 'COMPLETED' || Boolean(signedAt);
}
export function hasDeclined({ status, declinedAt }: SignerProgress): boolean {
  return status === 'DECLINED' || Boolean(declinedAt);
}
/** Returns true for a signer who has opened the envelope. Services call this VIEWED or DELIVERED. */
export function hasOpened({ status }: { status?: string | null | undefined }): boolean {
  return status === 'VIEWED' || status === 'DELIVERED';
}
/** Returns true for a signer who has neither signed nor declined. */
export function isPending(signer: SignerProgress): boolean {
  return !hasSigned(signer) && !hasDeclined(signer);
}

/**
 * Returns true if the signers are shown. Every envelope has at least one (API document, Create envelope body), so a service with an
 * empty list leaves them out.
 */
export function listsSigners({ signers }: { signers?: readonly unknown[] | null | undefined }): boolean {
  return (signers?.length ?? 0) > 0;
}
/** Returns true if the signers are shown, each with a status. */
export function showsSigners(envelope: { signers?: readonly SignerProgress[] | null | undefined }): boolean {
  return listsSigners(envelope) && (envelope.signers ?? []).every((one) => typeof one.status === 'string');
}
