import type { Envelope, Signer } from '../../api/resource-types.ts';
import { signersByOrder, turnsOf, whoseTurn } from '../../catalog/turns.ts';
import { ownValue } from '../../kernel/json.ts';
import { hasDeclined, hasSigned } from '../../kernel/statuses.ts';

/** The states of a signer of a run. In this order, the first one that any signer of a row has is the state of the row. */
export const SIGNER_STATES = [
  'failed',
  'pending',
  'draft',
  'declined',
  'expired',
  'cancelled',
  'replaced',
  'waiting',
  'later',
  'signed',
] as const;
export type SignerState = (typeof SIGNER_STATES)[number];

/** Returns the state of a row whose signers are in these states; undefined for a row without signers. */
export function rowStateOf(states: Iterable<SignerState>): SignerState | undefined {
  const found = new Set(states);
  return SIGNER_STATES.find((state) => found.has(state));
}

/** A signer of an envelope, and their state. */
export interface SignerOfEnvelope {
  signer: Signer;
  state: Exclude<SignerState, 'failed' | 'pending'>;
  /** ISO 8601. */
  signedAt: string | null;
  /** Since when it has been the signer's turn, if it is. ISO 8601. */
  waitingSince: string | null;
}

const ENDED = { DECLINED: 'declined', EXPIRED: 'expired', CANCELLED: 'cancelled' } as const;

/**
 * Returns the state of each signer of an envelope, in the order of the envelope. If the envelope has ended, those who signed stay
 * `signed`, and the others get its final status, or `replaced` if another envelope was sent instead. Only who declined is
 * `declined`.
 */
export function signerStatesOf(envelope: Envelope, isReplaced = false): SignerOfEnvelope[] {
  const isDeclinerKnown = (envelope.signers ?? []).some(hasDeclined);
  // Those after the one who declined have not been asked.
  const turn = new Set(isDeclinerKnown ? firstUnsigned(envelope) : whoseTurn(envelope));
  const beganAt = new Map(turnsOf(envelope).map(({ signer, beganAt: at }) => [signer, at]));
  return (envelope.signers ?? []).map((signer) => {
    const state = stateOf(signer, envelope, { isInTurn: turn.has(signer), isReplaced, isDeclinerKnown });
    return {
      signer,
      state,
      signedAt: signer.signedAt ?? null,
      waitingSince: state === 'waiting' ? isoTime(beganAt.get(signer)) : null,
    };
  });
}

function firstUnsigned({ signers, signingOrder }: Envelope): Signer[] {
  const unsigned = signers?.filter((signer) => !hasSigned(signer));
  return signersByOrder({ signers: unsigned, signingOrder })[0] ?? [];
}

function stateOf(
  signer: Signer,
  { status }: Envelope,
  {
    isInTurn,
    isReplaced,
    isDeclinerKnown,
  }: { isInTurn: boolean; isReplaced: boolean; isDeclinerKnown: boolean },
): SignerOfEnvelope['state'] {
  if (hasSigned(signer) || status === 'COMPLETED') return 'signed';
  if (isReplaced) return 'replaced';
  if (status === 'DRAFT') return 'draft';
  if (hasDeclined(signer)) return 'declined';
  if (status === 'DECLINED' && isDeclinerKnown) return isInTurn ? 'waiting' : 'later';
  return ownValue<SignerOfEnvelope['state']>(ENDED, status ?? '') ?? (isInTurn ? 'waiting' : 'later');
}

function isoTime(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}
