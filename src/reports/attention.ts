import type { Envelope } from '../api/resource-types.ts';
import { replacedBy } from '../catalog/markers.ts';
import { timeOf } from '../kernel/clock.ts';
import { hasDeclined, isInFlight, isPending } from '../kernel/statuses.ts';
import { nameOf } from '../kernel/text/person.ts';
import type { LateTurn } from './late-turns.ts';
import { DECLINED_WITHIN_MS, FORGOTTEN_AFTER_MS, MAX_NAMED, SOON_MS } from './report-limits.ts';

/** An envelope that needs attention. */
interface NamedEnvelope {
  id: string;
  subject: string | null;
  /** Who has declined, or who it is waiting for. */
  people: string[];
  /** When it was declined, expires, began to wait, or was created; ISO 8601. */
  at: string | null;
}

/** The number of envelopes of a kind, and the first few. */
export interface AttentionGroup {
  count: number;
  envelopes: NamedEnvelope[];
}

/**
 * The envelopes that need attention:
 * - declined: in the last 30 days and not replaced, latest first
 * - expiring: within 3 days, the next to expire first
 * - overdue: with a signer who takes longer than usual, longest first
 * - drafts: at least a week old, oldest first
 */
export type EnvelopesNeedingAttention = Record<
  'declined' | 'expiring' | 'overdue' | 'drafts',
  AttentionGroup
>;

/** Collects the envelopes that need attention. */
export class AttentionList {
  readonly #now: number;
  readonly #declined: NamedEnvelope[] = [];
  readonly #expiring: NamedEnvelope[] = [];
  readonly #drafts: NamedEnvelope[] = [];
  readonly #replaced = new Set<string>();

  /** @param now the service's time, in ms */
  constructor(now: number) {
    this.#now = now;
  }

  /** Adds an envelope. One that isn't selected may replace a selected one. */
  add(envelope: Envelope, isSelected: boolean): void {
    const { status, createdAt, expiresAt } = envelope;
    const replaced = replacedBy(envelope);
    if (replaced !== undefined) this.#replaced.add(replaced);
    if (!isSelected) return;
    if (status === 'DECLINED') this.#addDeclined(envelope);
    else if (isInFlight(status) && timeOf(expiresAt) - this.#now <= SOON_MS)
      this.#expiring.push(namedEnvelope(envelope, expiresAt));
    else if (status === 'DRAFT' && this.#now - timeOf(createdAt) >= FORGOTTEN_AFTER_MS)
      this.#drafts.push(namedEnvelope(envelope, createdAt));
  }

  list(late: readonly LateTurn[]): EnvelopesNeedingAttention {
    const overdue = new Map<string, NamedEnvelope>();
    for (const { envelope, turn } of late)
      if (!overdue.has(envelope.id))
        overdue.set(envelope.id, namedEnvelope(envelope, new Date(turn.beganAt).toISOString()));
    return {
      // A replacement may come after the envelope that it replaces.
      declined: firstOf(this.#declined.filter(({ id }) => !this.#replaced.has(id)).sort(latestFirst)),
      expiring: firstOf(this.#expiring.sort(earliestFirst)),
      overdue: firstOf([...overdue.values()]),
      drafts: firstOf(this.#drafts.sort(earliestFirst)),
    };
  }

  #addDeclined(envelope: Envelope): void {
    const decliner = envelope.signers?.find(hasDeclined);
    const at = decliner?.declinedAt ?? envelope.sentAt ?? envelope.createdAt;
    if (this.#now - timeOf(at) > DECLINED_WITHIN_MS) return;
    this.#declined.push({ ...namedEnvelope(envelope, at), people: decliner ? [nameOf(decliner)] : [] });
  }
}

function namedEnvelope({ id, subject, signers }: Envelope, at: string | null | undefined): NamedEnvelope {
  const people = (signers ?? []).filter(isPending).map(nameOf);
  return { id, subject: subject ?? null, people, at: at ?? null };
}

function firstOf(envelopes: readonly NamedEnvelope[]): AttentionGroup {
  return { count: envelopes.length, envelopes: envelopes.slice(0, MAX_NAMED) };
}

const earliestFirst = (a: NamedEnvelope, b: NamedEnvelope) => ((a.at ?? '') < (b.at ?? '') ? -1 : 1);
const latestFirst = (a: NamedEnvelope, b: NamedEnvelope) => earliestFirst(b, a);
