import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isPlausibleReset, type RateLimit } from '../../src/api/rate/rate-limit.ts';
import { RateWindow, type RateWindowOptions } from '../../src/api/rate/rate-window.ts';
import { nameOf, WindowFile } from '../../src/api/rate/window-file.ts';
import { fakeClock } from '../support/clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-window-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

let keys = 0;
/** Processes with one key and one clock. */
function machine() {
  const clock = fakeClock();
  const key = `sk_${keys++}`;
  const counter = () => new WindowFile(folder, 'https://x.example', key);
  const start = (options: Partial<RateWindowOptions> = {}) =>
    new RateWindow({
      clock,
      reserve: 0,
      maxWaitMs: Number.POSITIVE_INFINITY,
      counter: counter(),
      ...options,
    });
  return { clock, counter, start };
}

const rateOf = (limit: number, remaining: number, resetAt: number): RateLimit => ({
  limit,
  remaining,
  resetAt,
  retryAfterMs: undefined,
});

describe('requests in flight', () => {
  it('stay counted when the reset moves by less than a second', async () => {
    const { clock, start } = machine();
    const window = start();
    const resetAt = clock.now() + MINUTE;
    window.observe(await window.acquire(), rateOf(10, 9, resetAt));
    const [first] = [await window.acquire(), await window.acquire(), await window.acquire()];
    window.observe(first, rateOf(10, 8, resetAt + 400));
    expect(window.reading()).toEqual({ limit: 10, free: 6, resetAt: resetAt + 400 });
  });

  it('stay counted when the first response shows the reset of a new window', async () => {
    const { clock, start } = machine();
    const window = start();
    window.observe(await window.acquire(), rateOf(10, 9, clock.now() + MINUTE));
    clock.time += 2 * MINUTE;
    const [first] = [await window.acquire(), await window.acquire(), await window.acquire()];
    const resetAt = clock.now() + MINUTE;
    window.observe(first, rateOf(10, 9, resetAt));
    expect(window.reading()).toEqual({ limit: 10, free: 7, resetAt });
  });

  it('are not counted again by requests that are refused', async () => {
    const { clock, counter, start } = machine();
    const window = start({ maxWaitMs: 0 });
    const probe = await window.acquire();
    expect(probe).toEqual({
      window: { kind: 'probe', sentAt: clock.now() },
      sentAt: clock.now(),
      isCheck: false,
    });
    const resetAt = clock.now() + MINUTE;
    window.observe(probe, rateOf(2, 1, resetAt));
    await window.acquire();
    for (let i = 0; i < 3; i++)
      await expect(window.acquire()).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(counter().count(nameOf({ kind: 'until', resetAt }))).toBe(2);
  });
});

describe('a window that seems to be used up', () => {
  /** A process that starts a second after another one has used up the window. */
  async function checking() {
    const { clock, start } = machine();
    const resetAt = clock.now() + HOUR;
    const other = start();
    other.observe(await other.acquire(), rateOf(10, 0, resetAt));
    clock.time += 1_000;
    const window = start();
    return { clock, other, window, resetAt, check: await window.acquire() };
  }

  it('is corrected by the response to a check, even if the reset is the same', async () => {
    const { window, resetAt, check } = await checking();
    expect(check).toMatchObject({ isCheck: true });
    window.observe(check, rateOf(10, 5, resetAt));
    expect(window.reading()).toEqual({ limit: 10, free: 5, resetAt });
  });

  it('is not corrected by a response that is older than what another process has seen', async () => {
    const { clock, other, window, resetAt, check } = await checking();
    clock.time += 1_000;
    const next = resetAt + HOUR;
    other.observe(undefined, rateOf(10, 7, next));
    await new Promise((resolve) => setTimeout(resolve, 25));
    window.observe(check, rateOf(10, 5, resetAt));
    expect(other.reading()).toMatchObject({ free: 7, resetAt: next });
  });

  it('is not corrected by a late response of an earlier window', async () => {
    const { other, resetAt } = await checking();
    other.observe(undefined, rateOf(10, 9, resetAt - HOUR / 2));
    expect(other.reading()).toEqual({ limit: 10, free: 0, resetAt });
  });
});

it('does not check a window with free requests, however long it is', async () => {
  const { clock, start } = machine();
  const first = start();
  first.observe(await first.acquire(), rateOf(10, 5, clock.now() + 20 * HOUR));
  const window = start();
  for (const _ of [1, 2])
    expect(await window.acquire()).toMatchObject({ isCheck: false, window: { kind: 'until' } });
});

describe('work with a reserve', () => {
  const used = async (maxWaitMs: number) => {
    const { clock, start } = machine();
    const window = start({ reserve: 0.1, maxWaitMs });
    window.observe(await window.acquire(), rateOf(100, 50, clock.now() + MINUTE));
    return window;
  };
  const freeDuring = (window: RateWindow, reserve: number) =>
    window.withReserve({ reserve, maxWaitMs: 0 }, () => Promise.resolve(window.reading()?.free));

  it('leaves at least that share to others, until it is done or fails', async () => {
    const window = await used(0);
    expect([await freeDuring(window, 0.3), await freeDuring(window, 0)]).toEqual([20, 40]);
    const failing = window.withReserve({ reserve: 0.5, maxWaitMs: 0 }, () =>
      Promise.reject(new Error('enough')),
    );
    await expect(failing).rejects.toThrow('enough');
    expect(window.reading()?.free).toBe(40);
  });

  it.each([
    ['waits longer than usual', 1_000, 2 * MINUTE, true],
    ['waits as long as usual', 2 * MINUTE, 1_000, true],
    ['never waits if waiting is not allowed', 0, 2 * MINUTE, false],
  ])('%s', async (_, usualMs, maxWaitMs, waits) => {
    const window = await used(usualMs);
    const request = window.withReserve({ reserve: 0.5, maxWaitMs }, () => window.acquire());
    if (waits) expect(await request).toMatchObject({ window: { kind: 'after' } });
    else await expect(request).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  });
});

it.each([
  [-1, false],
  [0, false],
  [1, true],
  [24 * HOUR - 1, true],
  [24 * HOUR, false],
])('decides whether a reset in %d ms is plausible: %s', (ms, expected) => {
  expect(isPlausibleReset(5_000 + ms, 5_000)).toBe(expected);
});
