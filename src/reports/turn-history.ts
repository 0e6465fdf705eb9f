import type { Turn } from '../catalog/turns.ts';
import { percentile } from './percentile.ts';
import { DEFAULT_USUAL_MS, HISTORY_MS, MIN_SAMPLES, USUAL_PERCENTILE } from './usual-time.ts';

/** How long a turn usually takes, in ms, and on which finished turns that is based. `fixed`: given by the user. */
export interface UsualTime {
  percentileMs: number;
  basis: 'template' | 'account' | 'default' | 'fixed';
  samples: number;
}

type TemplateId = string | null | undefined;

/** The turns of an account that finished within `HISTORY_MS`, by template. */
export class TurnHistory {
  readonly #since: number;
  /** How long each turn took, in ms. */
  readonly #byTemplate = new Map<TemplateId, number[]>();
  readonly #account: number[] = [];
  readonly #usual = new Map<TemplateId, UsualTime>();

  /** @param now the service's time, in ms */
  constructor(now: number) {
    this.#since = now - HISTORY_MS;
  }

  /** Adds a turn if it is finished and recent enough. */
  addTurn(turn: Turn, templateId: TemplateId): void {
    const tookMs = turnDuration(turn);
    if (tookMs === undefined || !('endedAt' in turn) || turn.endedAt < this.#since) return;
    this.#account.push(tookMs);
    const ofTemplate = this.#byTemplate.get(templateId);
    if (ofTemplate === undefined) this.#byTemplate.set(templateId, [tookMs]);
    else ofTemplate.push(tookMs);
    if (this.#usual.size > 0) this.#usual.clear();
  }

  /**
   * Returns how long a turn usually takes: the percentile `USUAL_PERCENTILE` of the turns of the same template. With fewer than
   * `MIN_SAMPLES`, of those of the account; with fewer in the account, `DEFAULT_USUAL_MS`.
   */
  usualTime(templateId: TemplateId): UsualTime {
    const known = this.#usual.get(templateId) ?? this.#compute(templateId);
    this.#usual.set(templateId, known);
    return known;
  }

  #compute(templateId: TemplateId): UsualTime {
    const ofTemplate = (templateId && this.#byTemplate.get(templateId)) || [];
    const isEnough = ofTemplate.length >= MIN_SAMPLES;
    const sorted = Float64Array.from(isEnough ? ofTemplate : this.#account).sort();
    if (sorted.length < MIN_SAMPLES) return { percentileMs: DEFAULT_USUAL_MS, basis: 'default', samples: 0 };
    const percentileMs = percentile(sorted, USUAL_PERCENTILE) ?? DEFAULT_USUAL_MS;
    return { percentileMs, basis: isEnough ? 'template' : 'account', samples: sorted.length };
  }
}

/** Returns how long a finished turn took, in ms. Returns undefined for any other turn, or if its times are contradictory. */
export function turnDuration(turn: Turn): number | undefined {
  if (turn.state !== 'signed' && turn.state !== 'declined') return undefined;
  const tookMs = turn.endedAt - turn.beganAt;
  return tookMs >= 0 ? tookMs : undefined;
}
