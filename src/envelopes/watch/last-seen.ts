import type { Envelope, Signer } from '../../api/schemas.ts';
import { timeOf } from '../../kernel/clock.ts';
import { entryOf } from '../../kernel/json.ts';
import { isPending, isTerminal, showsSigners } from '../../kernel/vocabulary.ts';

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
  /** The most advanced status seen. */
  mark: number;
  /** The status of each signer; undefined while only lists without signers were read. */
  signers: Map<string, string> | undefined;
  /** The last list item without signers since the whole envelope was read. */
  item: string | undefined;
}

/** The order of statuses. A stale response from a lagging replica never moves an envelope back. */
const RANK: Readonly<Record<string, number>> = { DRAFT: 0, SENT: 1, IN_PROGRESS: 2 };
const ENDED = 3;
const SIGNER_RANK: Readonly<Record<string, number>> = {
  PENDING: 0,
  SENT: 1,
  VIEWED: 2,
  SIGNED: 3,
  DECLINED: 3,
};

/** Remembers the last known state of each envelope and finds the changes since. */
export class Memory {
  readonly #seen = new Map<string, Seen>();

  has(id: string): boolean {
    return this.#seen.has(id);
  }

  forget(id: string): void {
    this.#seen.delete(id);
  }

  /** Returns true if a list item without signers differs from the last one, so that the whole envelope has to be read. */
  differs(id: string, item: Envelope): boolean {
    const before = this.#seen.get(id);
    if (before === undefined || isStale(before, statusOf(item))) return false;
    if (before.status !== statusOf(item)) return true;
    const text = JSON.stringify(item);
    before.item ??= text;
    return before.item !== text;
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
  return isTerminal(status) ? ENDED : entryOf(RANK, status);
}

function isStale(before: Seen, status: string): boolean {
  if (isTerminal(before.status)) return before.status !== status;
  return (rankOf(status) ?? before.mark) < before.mark;
}

function remember(before: Seen | undefined, envelope: Envelope): Seen {
  const status = statusOf(envelope);
  const mark = Math.max(before?.mark ?? 0, rankOf(status) ?? 0);
  if (!showsSigners(envelope)) return { status, mark, signers: before?.signers, item: undefined };
  const signers = new Map(before?.signers);
  for (const [key, one] of keyed(envelope)) {
    const known = signers.get(key);
    if (known === undefined || !goesBack(known, one.status ?? '')) signers.set(key, one.status ?? '');
  }
  return { status, mark, signers, item: undefined };
}

/** Returns the signers who acted since, in order if the service returns the times. */
function movedSigners(before: Seen, envelope: Envelope): Signer[] {
  if (!showsSigners(envelope)) return [];
  const { signers } = before;
  if (signers === undefined) return guessMoved(before, envelope);
  return keyed(envelope)
    .filter(([key, one]) => {
      const known = signers.get(key);
      return known !== one.status && !(known !== undefined && goesBack(known, one.status ?? ''));
    })
    .map(([, one]) => one)
    .sort((a, b) => (actedAt(a) ?? 0) - (actedAt(b) ?? 0));
}

/** Guesses who acted if the signers weren't known before: all who acted if it was SENT, otherwise the last one. */
function guessMoved(before: Seen, envelope: Envelope): Signer[] {
  if (statusOf(envelope) === before.status) return [];
  const acted = (envelope.signers ?? [])
    .filter((one) => !isPending(one))
    .sort((a, b) => (actedAt(a) ?? 0) - (actedAt(b) ?? 0));
  if (before.mark <= 1) return acted;
  const last = acted.at(-1);
  const isTheirs = ['IN_PROGRESS', 'COMPLETED', 'DECLINED'].includes(statusOf(envelope));
  return isTheirs && last !== undefined && actedAt(last) !== undefined ? [last] : [];
}

function goesBack(from: string, to: string): boolean {
  const [before, after] = [entryOf(SIGNER_RANK, from), entryOf(SIGNER_RANK, to)];
  if (before === 3) return true;
  return before !== undefined && after !== undefined && after < before;
}

function actedAt(signer: Signer): number | undefined {
  const at = timeOf(signer.signedAt ?? signer.declinedAt);
  return Number.isNaN(at) ? undefined : at;
}

/** Returns each signer by address, if it is unique, because lists may lack IDs. */
function keyed(envelope: Envelope): [string, Signer][] {
  const all = envelope.signers ?? [];
  return all.map((one, index) => {
    const isAlone = one.email && all.filter((other) => other.email === one.email).length === 1;
    return [isAlone ? `${one.email}` : (one.id ?? `${index}`), one];
  });
}

function addressOf(signer: Signer): string | null {
  return signer.email ?? signer.id ?? signer.name ?? null;
}
