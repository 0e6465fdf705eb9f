/** The values of the three X-RateLimit headers (Limits). `resetsAt` is in ms since the epoch. */
export interface SandboxRateReading {
  allowed: boolean;
  limit: number;
  remaining: number;
  resetsAt: number;
}

/**
 * A fixed window per key. It is opened by the key's first request and starts at the whole second, so that the reset in seconds is exact.
 * Times are those of the clock used for the Date header.
 */
export class SandboxRateWindow {
  readonly #rate: { requests: number; seconds: number };
  readonly #windows = new Map<string, { endsAt: number; used: number }>();

  constructor(rate: { requests: number; seconds: number }) {
    this.#rate = rate;
  }

  /** Counts a request of the key at `now`, and returns the resulting values. */
  take(keyId: string, now: number): SandboxRateReading {
    const limit = this.#rate.requests;
    const lengthMs = this.#rate.seconds * 1000;
    let window = this.#windows.get(keyId);
    if (!window || now >= window.endsAt) {
      const opened = lengthMs < 1_000 ? now : now - (now % 1_000);
      window = { endsAt: opened + lengthMs, used: 0 };
      this.#windows.set(keyId, window);
    }
    const allowed = window.used < limit;
    if (allowed) window.used += 1;
    return { allowed, limit, remaining: limit - window.used, resetsAt: window.endsAt };
  }

  clear(): void {
    this.#windows.clear();
  }
}
