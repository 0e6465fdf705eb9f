import { describe, expect, it } from 'vitest';
import type { RateLimit } from '../../src/api/rate-headers.ts';
import { RateWindow, type RateWindowOptions } from '../../src/api/rate-window.ts';
import { fakeClock } from '../support/clock.ts';

/** A service with a fixed window, and some processes that send requests to it. */
class Service {
  readonly clock = fakeClock();
  readonly #limit: number;
  readonly #windowMs: number;
  #used = 0;
  #resetAt: number;
  refused = 0;
  served = 0;

  constructor(limit: number, windowMs: number) {
    this.#limit = limit;
    this.#windowMs = windowMs;
    this.#resetAt = this.clock.now() + windowMs;
  }

  window(more: Partial<RateWindowOptions> = {}): RateWindow {
    return new RateWindow({
      clock: this.clock,
      random: () => 0.5,
      reserve: 0.1,
      maxWaitMs: 10 ** 9,
      ...more,
    });
  }

  answer(): { rate: RateLimit; isRefused: boolean } {
    const now = this.clock.now();
    if (now >= this.#resetAt) {
      this.#resetAt = now + this.#windowMs;
      this.#used = 0;
    }
    const isRefused = this.#used >= this.#limit;
    if (isRefused) this.refused++;
    else {
      this.#used++;
      this.served++;
    }
    const remaining = this.#limit - this.#used;
    return {
      rate: { limit: this.#limit, remaining, resetAt: this.#resetAt, retryAfterMs: undefined },
      isRefused,
    };
  }
}

/** Sends `count` requests, as many at the same time as the window allows, each taking a moment. */
async function sendAll(service: Service, window: RateWindow, count: number): Promise<void> {
  const send = async () => {
    await window.acquire();
    await Promise.resolve();
    const { rate, isRefused } = service.answer();
    window.observe(rate, isRefused);
    if (isRefused) await send();
  };
  await Promise.all(Array.from({ length: count }, send));
}

describe('a window', () => {
  it('causes no refusal alone, and leaves its reserve to others', async () => {
    const service = new Service(100, 60_000);
    await sendAll(service, service.window(), 250);
    expect([service.served, service.refused]).toEqual([250, 0]);
  });

  it('is shared by two processes without a refusal', async () => {
    const service = new Service(100, 60_000);
    await Promise.all([sendAll(service, service.window(), 200), sendAll(service, service.window(), 200)]);
    expect([service.served, service.refused]).toEqual([400, 0]);
  });

  it('sends the first request alone, and then at most half of what is free', async () => {
    const service = new Service(40, 60_000);
    const window = service.window();
    await window.acquire();
    let isSecond = false;
    const second = window.acquire().then(() => {
      isSecond = true;
    });
    await Promise.resolve();
    expect(isSecond).toBe(false);
    window.observe(service.answer().rate);
    await second;
    // 39 remain, 4 of them are reserved: 17 may be in flight.
    await Promise.all(Array.from({ length: 16 }, () => window.acquire()));
    let isOneMore = false;
    void window.acquire().then(() => {
      isOneMore = true;
    });
    await Promise.resolve();
    expect(isOneMore).toBe(false);
    window.observe(service.answer().rate);
    await Promise.resolve();
  });

  it('leaves the largest reserve of all work in progress, in whatever order it ends', async () => {
    const service = new Service(100, 60_000);
    const window = service.window({ reserve: 0 });
    await sendAll(service, window, 1);
    const ends: (() => void)[] = [];
    const work = (reserve: number) =>
      window.withReserve({ reserve, maxWaitMs: 0 }, () => new Promise<void>((end) => ends.push(end)));
    const [first, second] = [work(0.5), work(0.2)];
    expect(window.reading()?.free).toBe(49);
    ends[0]?.();
    await first;
    expect(window.reading()?.free).toBe(79);
    ends[1]?.();
    await second;
    expect(window.reading()?.free).toBe(99);
  });

  it('pauses once for all requests after a refusal while the window has room, with and without Retry-After', async () => {
    const waits: number[] = [];
    const service = new Service(1_000, 900_000);
    const window = service.window({ onWait: ({ ms }) => waits.push(ms) });
    await sendAll(service, window, 10);
    await window.acquire();
    window.observe({ ...service.answer().rate, retryAfterMs: 2_000 }, true);
    await sendAll(service, window, 20);
    await window.acquire();
    window.observe(service.answer().rate, true);
    await sendAll(service, window, 20);
    expect(waits).toEqual([2_500, 1_500]);
  });

  it('fails instead of waiting longer than it may', async () => {
    const service = new Service(10, 900_000);
    const window = service.window({ maxWaitMs: 1_000 });
    await expect(sendAll(service, window, 20)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  });

  it('delays nothing without headers', async () => {
    const service = new Service(10, 900_000);
    const window = service.window();
    await window.acquire();
    window.observe({ limit: undefined, remaining: undefined, resetAt: undefined, retryAfterMs: undefined });
    await Promise.all(Array.from({ length: 500 }, () => window.acquire()));
    expect(window.reading()).toBeUndefined();
  });
});
