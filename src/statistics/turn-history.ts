import { type Turn, type TurnFacts, turnsOf } from '../envelopes/turns.ts';
import { timeOf } from '../kernel/clock.ts';
import { percentile } from '../kernel/percentile.ts';
import { DEFAULT_USUAL_MS, HISTORY_MS, MIN_SAMPLES } from './defaults.ts';

/** The group of finished turns on which a usual time is based. */
export type SampleBasis = 'template+role' | 'template' | 'account' | 'default';

/** Finished turns, from which the duration of the next one is estimated. */
export interface TurnSamples {
  basis: SampleBasis;
  /** The duration of each turn in ms, ascending; empty for `default`. */
  durations: Float64Array;
  /** The durations of the turns that ended with a signature, and of those that ended in a decline. */
  signatures: Float64Array;
  declines: Float64Array;
  /** The number of other turns that ended because the envelope expired. */
  ignored: number;
}

/** How long a turn usually takes, in ms. `fixed`: given by the user. */
export interface UsualTime {
  percentileMs: number;
  basis: SampleBasis | 'fixed';
  samples: number;
}

/** A template and one of its roles, as in an envelope and its signer. */
export interface TurnKind {
  templateId: string | null | undefined;
  role: string | null | undefined;
}

/** The turns of an account that finished in the last 180 days, by template and role. */
export class TurnHistory {
  readonly #since: number;
  readonly #byTemplate = new Map<string, Map<string, Finished>>();
  readonly #account = new Finished();
  readonly #samples = new Map<string, TurnSamples>();

  /** @param now the service's time, in ms */
  constructor(now: number) {
    this.#since = now - HISTORY_MS;
  }

  /** Adds the finished turns of an envelope, and those that ended because it expired. */
  add(
    envelope: TurnFacts & { templateId?: string | null | undefined; expiresAt?: string | null | undefined },
  ): void {
    const { templateId, status } = envelope;
    const hasExpired = status === 'EXPIRED' && timeOf(envelope.expiresAt) >= this.#since;
    for (const turn of turnsOf(envelope)) {
      this.addTurn(turn, templateId);
      if (hasExpired && turn.state === 'dropped') this.#addIgnored(turn, templateId);
    }
  }

  /** Adds a turn if it is finished and recent enough. */
  addTurn(turn: Turn, templateId: string | null | undefined): void {
    const tookMs = durationOf(turn);
    if (tookMs === undefined || !('endedAt' in turn) || turn.endedAt < this.#since) return;
    const isDecline = turn.state === 'declined';
    this.#account.add(tookMs, isDecline);
    if (templateId) this.#of(templateId, turn.signer.role).add(tookMs, isDecline);
    this.#samples.clear();
  }

  #addIgnored({ signer }: Turn, templateId: string | null | undefined): void {
    this.#account.ignored++;
    if (templateId) this.#of(templateId, signer.role).ignored++;
    this.#samples.clear();
  }

  /**
   * Returns the turns of the same template and role. If there are fewer than 20, returns those of the template, or else of the
   * account.
   */
  samplesOf({ templateId, role }: TurnKind): TurnSamples {
    const key = JSON.stringify([templateId ?? null, role ?? null]);
    const known = this.#samples.get(key);
    if (known) return known;
    const roles = this.#byTemplate.get(templateId ?? '') ?? new Map<string, Finished>();
    const groups = [
      ['template+role', () => roles.get(role ?? '')],
      ['template', () => Finished.merged(roles.values())],
      ['account', () => this.#account],
    ] as const;
    for (const [basis, group] of groups) {
      const finished = group();
      if (finished === undefined || finished.size < MIN_SAMPLES) continue;
      const samples = { basis, ...finished.samples() };
      this.#samples.set(key, samples);
      return samples;
    }
    return { basis: 'default', ...new Finished().samples() };
  }

  /** Returns how long a turn of this kind usually takes: the percentile (0–100) of its samples, or 7 days without samples. */
  usualTime(kind: TurnKind, percent: number): UsualTime {
    const { basis, durations } = this.samplesOf(kind);
    return {
      percentileMs: percentile(durations, percent) ?? DEFAULT_USUAL_MS,
      basis,
      samples: durations.length,
    };
  }

  #of(templateId: string, role: string | null | undefined): Finished {
    const roles = this.#byTemplate.get(templateId) ?? new Map<string, Finished>();
    this.#byTemplate.set(templateId, roles);
    const finished = roles.get(role ?? '') ?? new Finished();
    roles.set(role ?? '', finished);
    return finished;
  }
}

/** Returns how long a finished turn took, in ms. Returns undefined for any other turn, or if its times are contradictory. */
export function durationOf(turn: Turn): number | undefined {
  if (turn.state !== 'signed' && turn.state !== 'declined') return undefined;
  const tookMs = turn.endedAt - turn.beganAt;
  return tookMs >= 0 ? tookMs : undefined;
}

/** The finished turns of one group, and the number of turns that were never finished. */
class Finished {
  readonly #signatures: number[] = [];
  readonly #declines: number[] = [];
  ignored = 0;

  static merged(groups: Iterable<Finished>): Finished {
    const all = new Finished();
    for (const group of groups) {
      for (const one of group.#signatures) all.add(one, false);
      for (const one of group.#declines) all.add(one, true);
      all.ignored += group.ignored;
    }
    return all;
  }

  get size(): number {
    return this.#signatures.length + this.#declines.length;
  }

  add(tookMs: number, isDecline: boolean): void {
    (isDecline ? this.#declines : this.#signatures).push(tookMs);
  }

  samples(): Omit<TurnSamples, 'basis'> {
    const sorted = (times: readonly number[]) => Float64Array.from(times).sort();
    return {
      durations: sorted([...this.#signatures, ...this.#declines]),
      signatures: sorted(this.#signatures),
      declines: sorted(this.#declines),
      ignored: this.ignored,
    };
  }
}
