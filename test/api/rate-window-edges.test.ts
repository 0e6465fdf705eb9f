import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RateLimit } from '../../src/api/rate/rate-limit.ts';
import { RateWindow, type RateWindowOptions } from '../../src/api/rate/rate-window.ts';
import { WindowFile } from '../../src/api/rate/window-file.ts';
import { abortReason, type Clock } from '../../src/kernel/clock.ts';
import { ServiceError } from '../../src/kernel/errors.ts';
import { fakeClock } from '../support/clock.ts';
import { eventually } from '../support/eventually.ts';

let folder: string;
let number = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-window-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The window of a key that has not been used yet. */
function windowOf(options: Partial<RateWindowOptions> = {}) {
  const clock = fakeClock();
  const window = new RateWindow({
    clock,
    reserve: 0,
    maxWaitMs: Number.POSITIVE_INFINITY,
    counter: new WindowFile(folder, 'https://x.example', `sk_${number++}`),
    ...options,
  });
  return { clock, window };
}

const rateOf = (limit?: number, remaining?: number, resetAt?: number): RateLimit => ({
  limit,
  remaining,
  resetAt,
  retryAfterMs: undefined,
});

/** A clock whose sleepers are woken by the test. */
function heldClock(): Clock & { sleepers: (() => void)[] } {
  const sleepers: (() => void)[] = [];
  let time = fakeClock().now();
  return {
    sleepers,
    now: () => time,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        sleepers.push(() => {
          time += ms;
          resolve();
        });
        signal?.addEventListener('abort', () => reject(abortReason(signal)));
      }),
  };
}

/** Sends this number of requests one after the other; each response reports this rate. */
async function send(window: RateWindow, rates: readonly RateLimit[]): Promise<void> {
  for (const rate of rates) window.observe(await window.acquire(), rate);
}

/** A window of `limit` requests, all used, that ends in 3 seconds. */
async function usedUp(limit: number, options: Partial<RateWindowOptions> = {}) {
  const made = windowOf(options);
  const resetAt = fakeClock().now() + 3_000;
  await send(
    made.window,
    Array.from({ length: limit }, (_, used) => rateOf(limit, limit - used - 1, resetAt)),
  );
  return { ...made, resetAt };
}

describe('the rate that a window reports', () => {
  it('counts the requests that remain for this machine', async () => {
    const { window, clock } = windowOf();
    expect(window.reading()).toBeUndefined();
    const resetAt = clock.now() + 60_000;
    await send(window, [rateOf(10, 9, resetAt), rateOf(10, 6, resetAt)]);
    // Two were sent by this machine, two by others.
    expect(window.reading()).toEqual({ limit: 10, free: 6, resetAt });
    clock.time = resetAt + 100;
    expect(window.reading()).toEqual({ limit: 10, free: 10, resetAt: undefined });
  });

  it('is never negative, and leaves at least one request of a small window', async () => {
    const { window, clock } = windowOf({ reserve: 0.9 });
    await send(window, [rateOf(10, 2, clock.now() + 60_000)]);
    expect(window.reading()).toMatchObject({ limit: 10, free: 0 });
    const all = windowOf({ reserve: 1 });
    const counted = await all.window.acquire();
    all.clock.time += 1;
    all.window.observe(counted, rateOf(10, 9, all.clock.now() + 3_000));
    await send(all.window, [rateOf(10, 9, all.clock.now() + 6_000)]);
    expect(all.clock.slept).toHaveLength(1);
  });

  it('follows the service when the limit changes', async () => {
    const { window, clock } = windowOf();
    const resetAt = clock.now() + 60_000;
    await send(window, [rateOf(10, 9, resetAt), rateOf(100, 98, resetAt)]);
    expect(window.reading()).toMatchObject({ limit: 100, free: 98 });
  });
});

describe('a response without complete rate headers', () => {
  const resetAt = fakeClock().now() + 60_000;

  it.each([
    ['no limit', rateOf(undefined, 0, resetAt)],
    ['no remaining requests', rateOf(1, undefined, resetAt)],
    ['no reset', rateOf(1, 0, undefined)],
    ['nothing', rateOf()],
  ])('delays no request: %s', async (_, rate) => {
    const { window, clock } = windowOf();
    await send(
      window,
      Array.from({ length: 10 }, () => rate),
    );
    expect(clock.slept).toEqual([]);
    expect(window.reading()).toBeUndefined();
  });

  it("doesn't discard a known window", async () => {
    const { window, clock, resetAt: end } = await usedUp(2);
    window.observe(undefined, rateOf());
    window.observe(undefined, undefined);
    await window.acquire();
    expect(clock.now()).toBeGreaterThanOrEqual(end);
  });

  it('stops mattering once later responses have complete headers', async () => {
    const { window, clock } = windowOf();
    await send(window, [rateOf(), rateOf(2, 0, clock.now() + 3_000)]);
    await window.acquire();
    expect(clock.slept).toHaveLength(1);
  });
});

describe('the end of a window', () => {
  it.each([-50, 0, 50])('is awaited for %i ms plus a margin', async (offset) => {
    const { window, clock, resetAt } = await usedUp(2);
    clock.time = resetAt + offset;
    await window.acquire();
    expect(clock.now()).toBe(resetAt + 100);
  });

  it('is awaited for at most the longest allowed wait', async () => {
    const { window, clock } = await usedUp(1, { maxWaitMs: 3_000 });
    await window.acquire();
    expect(clock.slept).toEqual([3_100]);
    const late = await usedUp(1, { maxWaitMs: 2_999 });
    const error: unknown = await late.window.acquire().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({
      code: 'RATE_LIMITED',
      status: 429,
      resetAt: late.resetAt,
    });
    expect(late.clock.slept).toEqual([]);
  });

  it('is awaited once and reported once, however many requests wait', async () => {
    const waits: { ms: number; error: Error }[] = [];
    const { window, clock } = await usedUp(5, { onWait: (wait) => waits.push(wait) });
    await Promise.all([1, 2, 3, 4].map(() => window.acquire()));
    expect(clock.slept).toEqual([3_100]);
    expect(waits).toMatchObject([{ ms: 3_100, error: { code: 'RATE_LIMITED' } }]);
  });

  it('is still awaited by the others after one aborts', async () => {
    const clock = heldClock();
    const { window } = await usedUp(2, { clock });
    const controller = new AbortController();
    const first = window.acquire(controller.signal);
    const others = [window.acquire(new AbortController().signal), window.acquire()];
    await eventually(() => expect(clock.sleepers).toHaveLength(1));
    controller.abort(new Error('enough'));
    await expect(first).rejects.toThrow('enough');
    await eventually(() => expect(clock.sleepers).toHaveLength(2));
    clock.sleepers[1]?.();
    expect(await Promise.all(others)).toMatchObject([
      { window: { kind: 'after' } },
      { window: { kind: 'after' } },
    ]);
  });

  it('lets no aborted request through', async () => {
    const { window } = await usedUp(2);
    const given = AbortSignal.abort(new Error('enough'));
    await expect(window.acquire(given)).rejects.toThrow('enough');
    await expect(windowOf().window.acquire(given)).rejects.toThrow('enough');
  });
});

describe('a service that resets later than announced', () => {
  it('refuses once, and then gets a larger margin', async () => {
    const { window, clock } = windowOf();
    const [lateMs, lengthMs, limit] = [500, 10_000, 3];
    let [endsAt, used, refused] = [clock.now() + lengthMs, 0, 0];
    for (let sent = 0; sent < 30; ) {
      const counted = await window.acquire();
      if (clock.now() >= endsAt + lateMs) [endsAt, used] = [clock.now() + lengthMs, 0];
      const isRefused = used >= limit;
      if (isRefused) {
        refused++;
        clock.time += 250;
      } else {
        used++;
        sent++;
      }
      window.observe(counted, rateOf(limit, limit - used, endsAt), isRefused);
    }
    expect(refused).toBe(1);
  });

  it("doesn't count a late response from the previous window", async () => {
    const { window, clock } = windowOf();
    const resetAt = clock.now() + 3_000;
    await send(window, [rateOf(3, 2, resetAt)]);
    const slow = await window.acquire();
    clock.time = resetAt + 200;
    const counted = await window.acquire();
    window.observe(slow, rateOf(3, 1, resetAt));
    expect(window.reading()).toMatchObject({ limit: 3, free: 2, resetAt: undefined });
    const next = clock.now() + 3_000;
    window.observe(counted, rateOf(3, 2, next));
    window.observe(slow, rateOf(3, 0, resetAt));
    expect(window.reading()).toEqual({ limit: 3, free: 2, resetAt: next });
    await send(window, [rateOf(3, 1, next), rateOf(3, 0, next)]);
    await window.acquire();
    expect(clock.now()).toBe(next + 100);
  });
});

describe('a reset that moves', () => {
  it('keeps the window when the reset moves by less than a second', async () => {
    const { window, clock } = windowOf();
    const resetAt = clock.now() + 60_000;
    const moved = [0, 400, -400, 900, 0];
    await send(
      window,
      moved.map((ms, used) => rateOf(10, 9 - used, resetAt + ms)),
    );
    expect(window.reading()).toMatchObject({ limit: 10, free: 5 });
  });

  it('starts a new, unused window when the reset moves further', async () => {
    const { window, clock, resetAt } = await usedUp(5);
    expect(window.reading()).toMatchObject({ free: 0 });
    const next = resetAt + 900_000;
    window.observe(undefined, rateOf(5, 4, next));
    expect(window.reading()).toEqual({ limit: 5, free: 4, resetAt: next });
    await send(
      window,
      [3, 2, 1, 0].map((remaining) => rateOf(5, remaining, next)),
    );
    expect(clock.slept).toEqual([]);
    await window.acquire();
    expect(clock.now()).toBe(next + 100);
  });
});

describe('a new window', () => {
  it('is not held up by requests that get no response', async () => {
    const { window, clock, resetAt } = await usedUp(2);
    clock.time = resetAt + 100;
    for (let i = 0; i < 2; i++) await window.acquire();
    expect(clock.slept).toEqual([]);
    const before = clock.now();
    expect(await window.acquire()).toMatchObject({ window: { kind: 'after', resetAt } });
    const waited = clock.now() - before;
    expect(waited).toBeGreaterThanOrEqual(2_000);
    expect(waited).toBeLessThan(2_500);
  });
});

describe('an outdated rate', () => {
  const HOUR_MS = 3_600_000;

  it('is replaced by a newer response', async () => {
    const { window, clock } = windowOf();
    await send(window, [rateOf(10, 0, clock.now() + 20 * HOUR_MS)]);
    clock.time += 1_000;
    const resetAt = clock.now() + 60_000;
    window.observe(
      { window: { kind: 'probe', sentAt: 0 }, sentAt: clock.now(), isCheck: false },
      rateOf(10, 9, resetAt),
    );
    expect(window.reading()).toMatchObject({ resetAt, limit: 10 });
    await send(window, [rateOf(10, 8, resetAt)]);
    expect(clock.slept).toEqual([]);
  });

  it.each([
    ['before it refuses', 0, 60_000],
    ['before it waits for longer than 15 minutes', Number.POSITIVE_INFINITY, 20 * HOUR_MS],
  ])('is checked with one request %s', async (_, maxWaitMs, ms) => {
    const key = `sk_${number++}`;
    const process = () => windowOf({ maxWaitMs, counter: new WindowFile(folder, 'https://x.example', key) });
    const first = process();
    await send(first.window, [rateOf(10, 0, first.clock.now() + ms)]);
    const { window, clock } = process();
    clock.time += 1_000;
    const resetAt = clock.now() + 2_000;
    await send(window, [rateOf(10, 9, resetAt), rateOf(10, 8, resetAt)]);
    expect(clock.slept).toEqual([]);
    expect(window.reading()).toMatchObject({ limit: 10, free: 8, resetAt });
  });

  it('is trusted once a response has confirmed it', async () => {
    const key = `sk_${number++}`;
    const counter = () => new WindowFile(folder, 'https://x.example', key);
    const first = windowOf({ maxWaitMs: 0, counter: counter() });
    const resetAt = first.clock.now() + 60_000;
    await send(first.window, [rateOf(10, 0, resetAt)]);
    const { window, clock } = windowOf({ maxWaitMs: 0, counter: counter() });
    clock.time += 1_000;
    window.observe(await window.acquire(), rateOf(10, 0, resetAt), true);
    await expect(window.acquire()).rejects.toMatchObject({ code: 'RATE_LIMITED', resetAt });
  });

  it('is dropped if it was recorded in the future', async () => {
    const { window, clock } = await usedUp(2, { maxWaitMs: 0 });
    clock.time -= HOUR_MS;
    expect(window.reading()).toBeUndefined();
    const resetAt = clock.now() + 3_000;
    await send(window, [rateOf(2, 1, resetAt)]);
    expect(window.reading()).toMatchObject({ limit: 2, free: 1, resetAt });
  });
});

describe('a reserve', () => {
  it('is kept even if it is not a whole number of requests', async () => {
    const { window, clock } = windowOf({ reserve: 0.1 });
    await send(window, [rateOf(15, 14, clock.now() + 60_000)]);
    expect(window.reading()).toMatchObject({ limit: 15, free: 12 });
  });
});

describe('a request that is sent in one window and answered in the next', () => {
  it('counts the request in the next window', async () => {
    const { window, clock } = windowOf();
    const end = clock.now() + 3_000;
    await send(window, [rateOf(5, 4, end)]);
    const slow = await window.acquire();
    clock.time = end + 200;
    const next = clock.now() + 60_000;
    await send(window, [rateOf(5, 4, next)]);
    window.observe(slow, rateOf(5, 3, next));
    expect(window.reading()).toEqual({ limit: 5, free: 3, resetAt: next });
    window.observe(await window.acquire(), rateOf(5, 2, next));
    expect(window.reading()).toEqual({ limit: 5, free: 2, resetAt: next });
  });
});
