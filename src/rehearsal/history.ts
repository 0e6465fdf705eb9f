import type { Envelope } from '../api/schemas.ts';
import { timeOf } from '../kernel/clock.ts';
import { percentile } from '../kernel/percentile.ts';
import { DEFAULT_PERCENTILE, DEFAULT_USUAL_MS } from '../statistics/defaults.ts';
import { type SampleBasis, TurnHistory, type TurnKind } from '../statistics/turn-history.ts';
import { DEFAULT_DECLINE_RATE } from './defaults.ts';

/** What a signer does during their turn. `afterMs` counts from the beginning of the turn. */
export type Behavior = { kind: 'signs' | 'declines'; afterMs: number } | { kind: 'ignores' };

/** Two numbers in the range from 0 to below 1, which select one of the earlier outcomes and one of their times. */
export interface Draw {
  outcome: number;
  place: number;
}

/** The part of the account's history that a rehearsal uses: how its signers behaved, and what was sent this month. */
export class AccountHistory {
  readonly #turns: TurnHistory;
  readonly #now: number;
  /** Envelopes sent in this calendar month (UTC). */
  sentThisMonth = 0;

  /** @param now the service's time, in ms */
  constructor(now: number) {
    this.#now = now;
    this.#turns = new TurnHistory(now);
  }

  add(envelope: Envelope): void {
    if (monthOf(timeOf(envelope.sentAt)) === monthOf(this.#now)) this.sentThisMonth++;
    this.#turns.add(envelope);
  }

  /** Returns what a signer does. Outcomes and times are as frequent as they were for earlier signers of the same kind. */
  behaviorOf(kind: TurnKind, { outcome, place }: Draw): Behavior {
    const { basis, durations, signatures, declines, ignored } = this.#turns.samplesOf(kind);
    if (basis === 'default')
      return { kind: outcome < DEFAULT_DECLINE_RATE ? 'declines' : 'signs', afterMs: defaultMs(place) };
    const all = durations.length + ignored;
    if (outcome < ignored / all) return { kind: 'ignores' };
    const isDecline = outcome < (ignored + declines.length) / all;
    const afterMs = percentile(isDecline ? declines : signatures, place * 100) ?? 0;
    return { kind: isDecline ? 'declines' : 'signs', afterMs };
  }

  /** Returns the time after which a turn counts as late, in ms. */
  lateAfterMs(kind: TurnKind): number {
    return this.#turns.usualTime(kind, DEFAULT_PERCENTILE).percentileMs;
  }

  basisOf(kind: TurnKind): SampleBasis {
    return this.#turns.samplesOf(kind).basis;
  }
}

function monthOf(ms: number): string {
  return Number.isNaN(ms) ? '' : new Date(ms).toISOString().slice(0, 7);
}

/** Returns a default time to sign. Most people sign soon and a few late: as in `late`, 85% have signed after 7 days. */
function defaultMs(place: number): number {
  return (Math.log(1 - place) / Math.log(1 - DEFAULT_PERCENTILE / 100)) * DEFAULT_USUAL_MS;
}
