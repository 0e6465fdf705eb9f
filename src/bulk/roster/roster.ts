import type { Envelope, Signer } from '../../api/schemas.ts';
import { hasSigned, isInFlight } from '../../kernel/vocabulary.ts';

/** Whether a person has signed, considering all envelopes. */
export type RosterState = 'signed' | 'waiting' | 'declined' | 'expired' | 'cancelled' | 'never';

export interface RosterEntry {
  state: RosterState;
  envelopeId: string | null;
  signedAt: string | null;
}

const NEVER: RosterEntry = { state: 'never', envelopeId: null, signedAt: null };
const ENDED = { DECLINED: 'declined', EXPIRED: 'expired', CANCELLED: 'cancelled' } as const;

/** Which state takes precedence: a signature over an open envelope, and an open envelope over one that ended. */
const RANK: Readonly<Record<RosterState, number>> = {
  signed: 3,
  waiting: 2,
  declined: 1,
  expired: 1,
  cancelled: 1,
  never: 0,
};

/** Who has signed the envelopes of a template. Addresses are compared without case. */
export class Roster {
  readonly #entries = new Map<string, RosterEntry & { createdAt: string }>();

  add(envelope: Envelope): void {
    for (const signer of envelope.signers ?? []) {
      const state = stateOf(signer, envelope);
      if (state === 'never') continue;
      const key = keyOf(signer.email ?? '');
      const known = this.#entries.get(key);
      const createdAt = envelope.createdAt ?? '';
      const isLess = known !== undefined && RANK[state] < RANK[known.state];
      const isOlder = known !== undefined && RANK[state] === RANK[known.state] && createdAt < known.createdAt;
      if (isLess || isOlder) continue;
      const signedAt = state === 'signed' ? (signer.signedAt ?? envelope.completedAt ?? null) : null;
      this.#entries.set(key, { state, envelopeId: envelope.id, signedAt, createdAt });
    }
  }

  find(email: string): RosterEntry {
    const { state, envelopeId, signedAt } = this.#entries.get(keyOf(email)) ?? NEVER;
    return { state, envelopeId, signedAt };
  }
}

/** Returns true for a person who was asked and has signed, has declined, or can still sign. */
export function hasBeenAsked({ state }: RosterEntry): boolean {
  return state === 'signed' || state === 'waiting' || state === 'declined';
}

function keyOf(email: string): string {
  return email.trim().toLowerCase();
}

/** Returns the state of a signer. A draft counts as `never`, because nobody was asked. */
function stateOf(signer: Signer, { status: envelope }: Envelope): RosterState {
  if (envelope === 'COMPLETED' || hasSigned(signer)) return 'signed';
  if (isInFlight(envelope)) return 'waiting';
  if (envelope === 'DECLINED' || envelope === 'EXPIRED' || envelope === 'CANCELLED') return ENDED[envelope];
  return 'never';
}
