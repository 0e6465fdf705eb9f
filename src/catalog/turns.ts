import type { Envelope, Signer } from '../api/resource-types.ts';
import { timeOf } from '../kernel/clock.ts';
import { hasSigned, isInFlight, isPending, showsSigners } from '../kernel/statuses.ts';

/** The time in which a signer is asked to sign. Times are in ms since the epoch, by the service's clock. */
export type Turn = { signer: Signer; beganAt: number } & (
  | { state: 'signed' | 'declined'; endedAt: number }
  /** The signer can still sign. */
  | { state: 'open' }
  /** The envelope ended first: it expired, was canceled, or another signer declined. */
  | { state: 'dropped' }
);

/** The facts that determine an envelope's turns. */
export type TurnFields = Pick<Envelope, 'status' | 'signingOrder' | 'sentAt' | 'signers'>;

/**
 * Returns the turns of an envelope that have begun, in signing order. A turn begins when the envelope is sent or, where signers
 * sign in order, with the last signature of the previous order; it ends when the signer signs or declines. Signers with
 * the same order have their turn at the same time. A turn is left out if its beginning or end is not known.
 */
export function turnsOf(envelope: TurnFields): Turn[] {
  const turns: Turn[] = [];
  let beganAt = timeOf(envelope.sentAt);
  for (const signers of signersByOrder(envelope)) {
    if (Number.isNaN(beganAt)) break;
    for (const signer of signers) {
      const turn = turnOf(signer, beganAt, isInFlight(envelope.status));
      if (turn) turns.push(turn);
    }
    // NaN unless all of them have signed: the next turn has not begun.
    beganAt = signers.reduce(
      (latest, { signedAt }) => Math.max(latest, timeOf(signedAt)),
      Number.NEGATIVE_INFINITY,
    );
  }
  return turns;
}

/** Returns true if the turns are known. Items of a list may lack signers or times. */
export function areTurnsKnown(envelope: TurnFields): boolean {
  const isDated = (signer: Signer) => !hasSigned(signer) || Boolean(signer.signedAt);
  return Boolean(envelope.sentAt) && showsSigners(envelope) && (envelope.signers ?? []).every(isDated);
}

/** Returns the signers of each turn: all of them, or, if they sign in order, those of each order. */
export function signersByOrder<S extends { order?: number | null | undefined }>(envelope: {
  signers?: readonly S[] | null | undefined;
  signingOrder?: string | null | undefined;
}): S[][] {
  const { signers, signingOrder } = envelope;
  const all = [...(signers ?? [])];
  if (signingOrder !== 'SEQUENTIAL') return [all];
  const groups = new Map<number, S[]>();
  for (const signer of all) {
    const order = signer.order ?? 0;
    const group = groups.get(order);
    if (group) group.push(signer);
    else groups.set(order, [signer]);
  }
  return [...groups].sort(([a], [b]) => a - b).map(([, group]) => group);
}

function turnOf(signer: Signer, beganAt: number, isOpen: boolean): Turn | undefined {
  const [signedAt, declinedAt] = [timeOf(signer.signedAt), timeOf(signer.declinedAt)];
  if (!Number.isNaN(signedAt)) return { signer, beganAt, state: 'signed', endedAt: signedAt };
  if (!Number.isNaN(declinedAt)) return { signer, beganAt, state: 'declined', endedAt: declinedAt };
  if (!isPending(signer)) return undefined;
  return { signer, beganAt, state: isOpen ? 'open' : 'dropped' };
}

/** Returns the signers who are asked to sign now: all who have not signed, or, when they sign in order, the next ones. */
export function whoseTurn({ signers, signingOrder }: Envelope): Signer[] {
  return signersByOrder({ signers: signers?.filter(isPending), signingOrder })[0] ?? [];
}
