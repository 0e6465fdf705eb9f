import type { Envelope, Signer } from '../../api/resource-types.ts';
import { ownValue } from '../../kernel/json.ts';
import { isPending, isTerminal, showsSigners } from '../../kernel/statuses.ts';

/** A status change of an envelope. The first one has `from: null`. */
export interface StatusChange {
  /** When it was seen, ISO 8601. */
  at: string;
  envelopeId: string;
  from: string | null;
  to: string;
  /** The address of the signer whose status changed, if any. */
  signer: string | null;
  envelope: Envelope;
}

interface Seen {
  status: string;
  /** The rank of the most advanced status seen. */
  mark: number;
  /** The status of each signer; undefined while only lists without signers were read. */
  signers: Map<string, string> | undefined;
}

/** The order of statuses. A stale response from a lagging replica never moves an envelope or a signer back. */
const RANK: Readonly<Record<string, number>> = { DRAFT: 0, SENT: 1, IN_PROGRESS: 2 };
const ENDED = 3;
const SIGNER_RANK: Readonly<Record<string, number>> = {
  PENDING: 0,
  SENT: 1,
  VIEWED: 2,
  SIGNED: ENDED,
  DECLINED: ENDED,
};

/** Remembers the last known state of each envelope and finds the changes since. */
export class LastSeen {
  readonly #seen = new Map<string, Seen>();

  forget(id: string): void {
    this.#seen.delete(id);
  }

  /** Returns true if a list item without signers shows another status, so that the whole envelope has to be read. */
  hasMoved(item: Envelope): boolean {
    const before = this.#seen.get(item.id);
    return before !== undefined && before.status !== statusOf(item) && !isStale(before, statusOf(item));
  }

  /** Returns the changes since the last poll, in order; empty for a stale response. */
  take(id: string, envelope: Envelope, now: number): StatusChange[] {
    const before = this.#seen.get(id);
    const status = statusOf(envelope);
    if (before !== undefined && isStale(before, status)) return [];
    const moved = before === undefined ? [] : movedSigners(before, envelope);
    this.#seen.set(id, remember(before, envelope));
    if (before?.status === status && moved.length === 0) return [];
    const at = new Date(now).toISOString();
    const from = before?.status ?? null;
    // If several signers acted since the last poll, each is a change, and the last one has the new status.
    const movers = moved.length > 0 ? moved.map(addressOf) : [null];
    return movers.map((signer, index) => {
      const to = index === movers.length - 1 ? status : (from ?? status);
      return { at, envelopeId: id, from, to, signer, envelope };
    });
  }
}

function statusOf(envelope: Envelope): string {
  return envelope.status ?? 'UNKNOWN';
}

function rankOf(status: string): number | undefined {
  return isTerminal(status) ? ENDED : ownValue(RANK, status);
}

function isStale(before: Seen, status: string): boolean {
  if (isTerminal(before.status)) return before.status !== status;
  return (rankOf(status) ?? before.mark) < before.mark;
}

function remember(before: Seen | undefined, envelope: Envelope): Seen {
  const status = statusOf(envelope);
  const mark = Math.max(before?.mark ?? 0, rankOf(status) ?? 0);
  if (!showsSigners(envelope)) return { status, mark, signers: before?.signers };
  const signers = new Map(before?.signers);
  for (const one of envelope.signers ?? [])
    if (isForward(signers.get(keyOf(one)), one.status)) signers.set(keyOf(one), one.status ?? '');
  return { status, mark, signers };
}

/** Returns the signers who acted since, in order if the service returns the times. */
function movedSigners({ status, signers }: Seen, envelope: Envelope): Signer[] {
  if (!showsSigners(envelope)) return [];
  const all = envelope.signers ?? [];
  // Nobody has acted on an envelope that was SENT. Otherwise, it isn't known who has acted since.
  const unknown =
    status === 'SENT' && status !== statusOf(envelope) ? all.filter((one) => !isPending(one)) : [];
  const moved =
    signers === undefined ? unknown : all.filter((one) => isForward(signers.get(keyOf(one)), one.status));
  return moved.toSorted((a, b) => (actedAt(a) < actedAt(b) ? -1 : actedAt(a) > actedAt(b) ? 1 : 0));
}

function isForward(from: string | undefined, to: string | null | undefined): boolean {
  if (from === undefined) return true;
  const [before, after] = [ownValue(SIGNER_RANK, from), ownValue(SIGNER_RANK, to ?? '')];
  if (before === ENDED || from === to) return false;
  return before === undefined || after === undefined || after > before;
}

function actedAt({ signedAt, declinedAt }: Signer): string {
  return signedAt ?? declinedAt ?? '';
}

function keyOf({ id, email, name }: Signer): string {
  return id ?? email ?? name ?? '';
}

function addressOf({ id, email, name }: Signer): string | null {
  return email ?? id ?? name ?? null;
}
