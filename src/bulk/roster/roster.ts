import type { Envelope, Signer } from '../../api/resource-types.ts';
import { replacedBy } from '../../catalog/markers.ts';
import { ownValue } from '../../kernel/json.ts';
import { hasSigned, isInFlight, isVoid } from '../../kernel/statuses.ts';
import { comparableSigner } from '../../kernel/text/email-address.ts';

/** Whether a person has signed, considering all envelopes. */
export const ROSTER_STATES = ['signed', 'waiting', 'declined', 'expired', 'cancelled', 'never'] as const;
export type RosterState = (typeof ROSTER_STATES)[number];

export interface RosterEntry {
  state: RosterState;
  envelopeId: string | null;
  signedAt: string | null;
  /** The address of the signer in the envelope that replaced the one to this address. */
  replacedBy: string | null;
}

const NEVER: RosterEntry = { state: 'never', envelopeId: null, signedAt: null, replacedBy: null };
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

type Entry = RosterEntry & { createdAt: string };
/** What is kept of a canceled envelope and of its replacement. */
type Kept = Pick<Envelope, 'id' | 'status' | 'signers' | 'templateId' | 'createdAt' | 'completedAt'>;

/** Who has signed the envelopes of one or more templates. Addresses are compared without case. */
export class Roster {
  readonly #entries = new Map<string, Entry>();
  readonly #canceled = new Map<string, Kept>();
  /** By the ID of the envelope that was replaced. */
  readonly #replacements = new Map<string, Kept>();

  add(envelope: Envelope): void {
    const { id, status, signers, templateId, createdAt, completedAt } = envelope;
    const kept: Kept = { id, status, signers, templateId, createdAt, completedAt };
    if (status === 'CANCELLED') this.#canceled.set(id, kept);
    const old = replacedBy(envelope);
    if (old !== undefined && status !== 'DRAFT' && !isVoid(envelope)) this.#replacements.set(old, kept);
    for (const signer of signers ?? []) this.#addSigner(signer, kept);
  }

  find(email: string, templateId: string): RosterEntry {
    const found = this.#entries.get(keyOf(email, templateId));
    const { state, envelopeId, signedAt } = found ?? NEVER;
    const current = state === 'cancelled' ? this.#currentOf(email, envelopeId ?? '') : undefined;
    return current ?? { state, envelopeId, signedAt, replacedBy: null };
  }

  #addSigner(signer: Signer, envelope: Kept): void {
    const entry = entryOf(signer, envelope);
    if (entry.state === 'never') return;
    const key = keyOf(signer.email ?? '', envelope.templateId ?? '');
    const known = this.#entries.get(key);
    const createdAt = envelope.createdAt ?? '';
    const isLess = known !== undefined && RANK[entry.state] < RANK[known.state];
    const isOlder =
      known !== undefined && RANK[entry.state] === RANK[known.state] && createdAt < known.createdAt;
    if (!isLess && !isOlder) this.#entries.set(key, { ...entry, createdAt });
  }

  /** Returns the entry of the signer who took the place of this one, if the envelope was replaced. */
  #currentOf(email: string, canceledId: string): RosterEntry | undefined {
    let [id, address] = [canceledId, email];
    let current: RosterEntry | undefined;
    const seen = new Set<string>();
    while (!seen.has(id)) {
      seen.add(id);
      const [old, next] = [this.#canceled.get(id), this.#replacements.get(id)];
      const signer = old && next && successorOf(address, old.signers ?? [], next.signers ?? []);
      if (next === undefined || signer === undefined) break;
      [id, address] = [next.id, signer.email ?? ''];
      current = { ...entryOf(signer, next), replacedBy: address };
    }
    return current;
  }
}

/** Returns the signer in the place of this address: the same role or, without one, the same position. */
function successorOf(email: string, old: readonly Signer[], next: readonly Signer[]): Signer | undefined {
  const isSame = (one: Signer) => addressOf(one.email) === addressOf(email);
  const index = old.findIndex(isSame);
  const same = next.find(isSame);
  if (same !== undefined || index < 0) return same;
  const added = next.filter(
    ({ email: one }) => !old.some((signer) => addressOf(signer.email) === addressOf(one)),
  );
  const role = old[index]?.role;
  const inRole = added.filter((one) => role && one.role === role);
  if (inRole.length === 1) return inRole[0];
  const inPlace = next[index];
  return old.length === next.length && inPlace && added.includes(inPlace) ? inPlace : undefined;
}

/** Returns true for a person who was asked and has signed, has declined, or can still sign. */
export function hasBeenAsked({ state }: RosterEntry): boolean {
  return state === 'signed' || state === 'waiting' || state === 'declined';
}

function keyOf(email: string, templateId: string): string {
  return `${templateId}\n${addressOf(email)}`;
}

function addressOf(email: string | null | undefined): string {
  return comparableSigner(email ?? '');
}

function entryOf(signer: Signer, envelope: Kept): RosterEntry {
  const state = stateOf(signer, envelope);
  const signedAt = state === 'signed' ? (signer.signedAt ?? envelope.completedAt ?? null) : null;
  return { state, envelopeId: envelope.id, signedAt, replacedBy: null };
}

/** Returns the state of a signer. A draft counts as `never`, because nobody was asked. */
function stateOf(signer: Signer, { status }: Kept): RosterState {
  if (status === 'COMPLETED' || hasSigned(signer)) return 'signed';
  if (isInFlight(status)) return 'waiting';
  return ownValue<RosterState>(ENDED, status ?? '') ?? 'never';
}
