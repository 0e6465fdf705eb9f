import type { Turn } from '../catalog/turns.ts';
import { percentile } from '../kernel/percentile.ts';
import { DEFAULT_USUAL_MS, HISTORY_MS, MIN_SAMPLES, USUAL_PERCENTILE } from './usual-times.ts';

/** The group of finished turns on which a usual time is based. */
export type SampleBasis = 'template+role' | 'template' | 'account' | 'default';

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
  /** How long each turn took, in ms. */
  readonly #byTemplate = new Map<string, Map<string, number[]>>();
  readonly #account: number[] = [];
  readonly #usual = new Map<string, UsualTime>();

  /** @param now the service's time, in ms */
  constructor(now: number) {
    this.#since = now - HISTORY_MS;
  }

  /** Adds a turn if it is finished and recent enough. */
  addTurn(turn: Turn, templateId: string | null | undefined): void {
    const tookMs = durationOf(turn);
    if (tookMs === undefined || !('endedAt' in turn) || turn.endedAt < this.#since) return;
    this.#account.push(tookMs);
    if (templateId) this.#of(templateId, turn.signer.role).push(tookMs);
    this.#usual.clear();
  }

  /**
   * Returns how long a turn of this kind usually takes: the 85th percentile of the turns of the same template and role. If there are
   * fewer than 20, of those of the template, or else of the account; if there are fewer in the account, 7 days.
   */
  usualTime({ templateId, role }: TurnKind): UsualTime {
    const key = JSON.stringify([templateId ?? null, role ?? null]);
    const known = this.#usual.get(key) ?? this.#compute(templateId, role);
    this.#usual.set(key, known);
    return known;
  }

  #compute(templateId: TurnKind['templateId'], role: TurnKind['role']): UsualTime {
    const roles = this.#byTemplate.get(templateId ?? '') ?? new Map<string, number[]>();
    const groups = [
      ['template+role', () => roles.get(role ?? '') ?? []],
      ['template', () => [...roles.values()].flat()],
      ['account', () => this.#account],
    ] as const;
    for (const [basis, durations] of groups) {
      const sorted = Float64Array.from(durations()).sort();
      if (sorted.length < MIN_SAMPLES) continue;
      const percentileMs = percentile(sorted, USUAL_PERCENTILE) ?? DEFAULT_USUAL_MS;
      return { percentileMs, basis, samples: sorted.length };
    }
    return { percentileMs: DEFAULT_USUAL_MS, basis: 'default', samples: 0 };
  }

  #of(templateId: string, role: string | null | undefined): number[] {
    const roles = this.#byTemplate.get(templateId) ?? new Map<string, number[]>();
    this.#byTemplate.set(templateId, roles);
    const durations = roles.get(role ?? '') ?? [];
    roles.set(role ?? '', durations);
    return durations;
  }
}

/** Returns how long a finished turn took, in ms. Returns undefined for any other turn, or if its times are contradictory. */
export function durationOf(turn: Turn): number | undefined {
  if (turn.state !== 'signed' && turn.state !== 'declined') return undefined;
  const tookMs = turn.endedAt - turn.beganAt;
  return tookMs >= 0 ? tookMs : undefined;
}
