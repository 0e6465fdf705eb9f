import { isRateLimited } from '../../kernel/errors.ts';

export interface PaceOptions {
  intervalMs: number;
  /** The longest pause while nothing moves; the interval itself when absent. */
  quietMs?: number | undefined;
  /** 0 to 1, for jitter. */
  random: () => number;
}

/** The longest pause while the service is away. */
const AWAY_MS = 60_000;
/** How much longer each pause is than the one before while nothing moves. */
const CALMING = 1.3;
/** So many quiet looks before pauses grow. */
const PATIENCE = 2;
/** A reset time is another machine's: come a little later rather than a little early. */
const RESET_MARGIN_MS = 250;
/** A reset further away than this is taken for a mistake. */
const LONGEST_WINDOW_MS = 3_600_000;

/** When to look next: soon after something moved, later while all is quiet or the service is away. */
export class PollPace {
  readonly #options: PaceOptions;
  #quiet = 0;
  #failures = 0;
  #resetAt = 0;

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  moved(): void {
    this.#quiet = 0;
  }

  /** The service could not be asked. Returns how often in a row. */
  failed(error: Error): number {
    // The window's end stands in every reply; only a refusal for too many requests has to do with it.
    this.#resetAt = isRateLimited(error) ? (error.resetAt ?? 0) : 0;
    return ++this.#failures;
  }

  /** The service answered. Returns true when it had been away. */
  answered(): boolean {
    const wasAway = this.#failures > 0;
    this.#failures = 0;
    this.#resetAt = 0;
    return wasAway;
  }

  /** The pause before the next look, in ms. */
  next(now: number): number {
    const { intervalMs, quietMs = intervalMs, random } = this.#options;
    const away = Math.min(intervalMs * 2 ** Math.min(this.#failures, 6), Math.max(AWAY_MS, intervalMs));
    const calm = Math.min(
      intervalMs * CALMING ** Math.min(Math.max(0, this.#quiet - PATIENCE), 60),
      Math.max(quietMs, intervalMs),
    );
    this.#quiet++;
    const pause = Math.max(this.#failures > 0 ? away : 0, calm) * (0.9 + random() * 0.2);
    const untilReset = this.#resetAt - now + RESET_MARGIN_MS;
    return untilReset > pause && untilReset < LONGEST_WINDOW_MS ? untilReset : pause;
  }
}
