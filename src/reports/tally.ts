import type { Envelope, Signer } from '../api/resource-types.ts';
import type { Turn } from '../catalog/turns.ts';
import { hasDeclined } from '../kernel/statuses.ts';
import { monthOf } from './groups.ts';
import { percentile } from './percentile.ts';
import { turnDuration } from './turn-history.ts';

/** A distribution of durations: the median, and the times within which 85% and 95% were done. Null without samples. */
export interface DurationSpread {
  samples: number;
  medianMs: number | null;
  p85Ms: number | null;
  p95Ms: number | null;
}

/** The figures of a number of envelopes or turns. */
export interface Figures {
  sent: number;
  completed: number;
  declined: number;
  expired: number;
  cancelled: number;
  open: number;
  /** Share of the ended ones that were completed, 0 to 1; null if none has ended. */
  completionRate: number | null;
  toComplete: DurationSpread;
  turn: DurationSpread;
  /** Most frequent first. */
  declineReasons: { reason: string | null; count: number }[];
  sentThisMonth: number;
}

type EnvelopeEnding = 'completed' | 'declined' | 'expired' | 'cancelled' | 'open';

const OUTCOMES: ReadonlyMap<string, EnvelopeEnding> = new Map([
  ['COMPLETED', 'completed'],
  ['DECLINED', 'declined'],
  ['EXPIRED', 'expired'],
  ['CANCELLED', 'cancelled'],
]);

/** The times of an envelope, in ms; NaN if it has none. */
export interface EnvelopeTimes {
  createdAt: number;
  sentAt: number;
  completedAt: number;
}

/** Adds up envelopes or turns. Stores only durations and counts. */
export class EnvelopeTally {
  readonly #monthBegan: number;
  readonly #outcomes = { completed: 0, declined: 0, expired: 0, cancelled: 0, open: 0 };
  readonly #toComplete: number[] = [];
  readonly #turns: number[] = [];
  readonly #reasons = new Map<string | null, number>();
  #sent = 0;
  #sentThisMonth = 0;

  /** @param now the service's time, in ms */
  constructor(now: number) {
    this.#monthBegan = Date.parse(`${monthOf(now)}-01`);
  }

  /** Adds an envelope that was sent. */
  addEnvelope(envelope: Envelope, { sentAt, completedAt }: EnvelopeTimes, turns: readonly Turn[]): void {
    this.#count(OUTCOMES.get(envelope.status ?? '') ?? 'open', sentAt);
    const tookMs = completedAt - sentAt;
    if (tookMs >= 0) this.#toComplete.push(tookMs);
    for (const turn of turns) this.#addDuration(turn);
    for (const signer of envelope.signers ?? []) this.#addReason(signer);
  }

  /** Adds a turn as if it were an envelope. A turn without a signature or a decline gets the outcome of its envelope. */
  addTurn(turn: Turn, envelope: Envelope): void {
    this.#count(outcomeOf(turn, envelope), turn.beganAt);
    this.#addDuration(turn);
    this.#addReason(turn.signer);
    const tookMs = turnDuration(turn);
    if (turn.state === 'signed' && tookMs !== undefined) this.#toComplete.push(tookMs);
  }

  figures(): Figures {
    const { completed, declined, expired, cancelled } = this.#outcomes;
    const ended = completed + declined + expired + cancelled;
    return {
      sent: this.#sent,
      ...this.#outcomes,
      completionRate: ended === 0 ? null : completed / ended,
      toComplete: spreadOf(this.#toComplete),
      turn: spreadOf(this.#turns),
      declineReasons: [...this.#reasons]
        .map(([reason, count]) => ({ reason, count }))
        .sort((a, b) => b.count - a.count || ((a.reason ?? '') < (b.reason ?? '') ? -1 : 1)),
      sentThisMonth: this.#sentThisMonth,
    };
  }

  #count(outcome: EnvelopeEnding, at: number): void {
    this.#sent++;
    this.#outcomes[outcome]++;
    if (at >= this.#monthBegan) this.#sentThisMonth++;
  }

  #addDuration(turn: Turn): void {
    const tookMs = turnDuration(turn);
    if (tookMs !== undefined) this.#turns.push(tookMs);
  }

  #addReason(signer: Signer): void {
    if (!hasDeclined(signer)) return;
    const reason = signer.declineReason?.trim() || null;
    this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1);
  }
}

function outcomeOf({ state }: Turn, { status }: Envelope): EnvelopeEnding {
  if (state === 'signed') return 'completed';
  if (state === 'declined') return 'declined';
  return OUTCOMES.get(status ?? '') ?? 'open';
}

function spreadOf(durations: readonly number[]): DurationSpread {
  const sorted = Float64Array.from(durations).sort();
  return {
    samples: sorted.length,
    medianMs: percentile(sorted, 50),
    p85Ms: percentile(sorted, 85),
    p95Ms: percentile(sorted, 95),
  };
}
