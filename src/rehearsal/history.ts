import type { Envelope } from '../api/schemas.ts';
import { turnsOf } from '../envelopes/turns.ts';
import { timeOf } from '../kernel/clock.ts';
import { DEFAULT_PERCENTILE, DEFAULT_USUAL_MS, HISTORY_MS } from '../statistics/defaults.ts';
import { type SampleBasis, TurnHistory, type TurnKind } from '../statistics/turn-history.ts';
import { DEFAULT_DECLINE_RATE } from './defaults.ts';

/** What a signer does with a turn; `afterMs` from its beginning. */
export type Behavior = { kind: 'signs' | 'declines'; afterMs: number } | { kind: 'ignores' };

/** What of the account's past a rehearsal uses: how its signers behaved, and what was sent this month. */
export class AccountHistory {
  readonly turns: TurnHistory;
  readonly #now: number;
  #finished = 0;
  #ignored = 0;
  /** Envelopes sent in this calendar month (UTC). */
  sentThisMonth = 0;

  /** @param now the service's time, in ms */
  constructor(now: number) {
    this.#now = now;
    this.turns = new TurnHistory(now);
  }

  add(envelope: Envelope): void {
    const sentAt = timeOf(envelope.sentAt);
    if (monthOf(sentAt) === monthOf(this.#now)) this.sentThisMonth++;
    this.turns.add(envelope);
    if (!(sentAt >= this.#now - HISTORY_MS)) return;
    for (const { state } of turnsOf(envelope)) {
      if (state === 'signed' || state === 'declined') this.#finished++;
      else if (state === 'dropped' && envelope.status === 'EXPIRED') this.#ignored++;
    }
  }

  /** Returns what a signer does, as signers of the same kind did before. */
  behaviorOf(kind: TurnKind, random: () => number): Behavior {
    const [ignores, declines, place] = [random(), random(), random()];
    const { basis, durations, declined } = this.turns.samplesOf(kind);
    if (basis === 'default')
      return { kind: declines < DEFAULT_DECLINE_RATE ? 'declines' : 'signs', afterMs: defaultMs(place) };
    const ended = this.#finished + this.#ignored;
    if (ignores < this.#ignored / ended) return { kind: 'ignores' };
    const isDecline = declines < declined / durations.length;
    return { kind: isDecline ? 'declines' : 'signs', afterMs: quantile(durations, place) };
  }

  /** Returns the time after which a turn counts as late, in ms. */
  lateAfterMs(kind: TurnKind): number {
    return this.turns.usualTime(kind, DEFAULT_PERCENTILE).percentileMs;
  }

  basisOf(kind: TurnKind): SampleBasis {
    return this.turns.samplesOf(kind).basis;
  }
}

function monthOf(ms: number): string {
  return Number.isNaN(ms) ? '' : new Date(ms).toISOString().slice(0, 7);
}

/** Most sign soon and a few late; as in `late`, 85% have signed after 7 days. */
function defaultMs(place: number): number {
  return (Math.log(1 - place) / Math.log(1 - DEFAULT_PERCENTILE / 100)) * DEFAULT_USUAL_MS;
}

function quantile(sorted: Float64Array, place: number): number {
  const rank = place * (sorted.length - 1);
  const low = sorted[Math.floor(rank)] ?? 0;
  const high = sorted[Math.ceil(rank)] ?? low;
  return low + (high - low) * (rank - Math.floor(rank));
}
