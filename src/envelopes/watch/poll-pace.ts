import { backOff } from '../../kernel/async/back-off.ts';

/** How often a watch polls while something changes, and while nothing does. */
export const WATCH_PACE = { intervalMs: 5_000, quietMs: 60_000 } as const;

export interface PaceOptions {
  intervalMs: number;
  /** The longest pause while nothing changes. Default: the interval. */
  quietMs?: number | undefined;
  /** 0 to 1, for jitter. */
  random: () => number;
}

/** The longest pause while the service is down. */
const MAX_OUTAGE_PAUSE_MS = 60_000;
/** The factor by which pauses grow while nothing changes. */
const PAUSE_GROWTH = 1.3;
/** Polls without a change before pauses grow. */
const QUIET_POLLS = 2;

/** Decides when to poll next: soon after a change, later while nothing changes or the service is down. */
export class PollPace {
  readonly #options: PaceOptions;
  #quiet = 0;
  #failures = 0;

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  moved(): void {
    this.#quiet = 0;
  }

  /** Records a failed poll. Returns the number of failures in a row. */
  failed(): number {
    return ++this.#failures;
  }

  /** Records a response. Returns true if the service had been down. */
  recordResponse(): boolean {
    const wasAway = this.#failures > 0;
    this.#failures = 0;
    return wasAway;
  }

  /** Returns the pause before the next poll, in ms. */
  next(): number {
    const { intervalMs, quietMs = intervalMs, random } = this.#options;
    const calm = Math.min(intervalMs * PAUSE_GROWTH ** Math.max(0, this.#quiet++ - QUIET_POLLS), quietMs);
    const longestMs = Math.max(MAX_OUTAGE_PAUSE_MS, intervalMs);
    const pause = this.#failures > 0 ? backOff(this.#failures, { firstMs: intervalMs, longestMs }) : calm;
    return pause * (0.9 + random() * 0.2);
  }
}
