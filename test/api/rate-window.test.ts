import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RateWindow } from '../../src/api/rate/rate-window.ts';
import { WindowFile } from '../../src/api/rate/window-file.ts';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import { fakeClock } from '../support/clock.ts';
import { seeded } from '../support/faulty-proxy.ts';

const KEY = 'sk_canary_0123456789';
let folder: string;
let count = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-window-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A service with a fixed, counting window, and the requests that it refused. */
class Service {
  refused = 0;
  used = 0;
  private endsAt = 0;
  readonly limit: number;
  readonly lengthMs: number;
  readonly clock: Clock;

  constructor(limit: number, lengthMs: number, clock: Clock) {
    this.limit = limit;
    this.lengthMs = lengthMs;
    this.clock = clock;
  }

  take() {
    const now = this.clock.now();
    if (now >= this.endsAt) [this.endsAt, this.used] = [now + this.lengthMs, 0];
    const refused = this.used >= this.limit;
    if (refused) this.refused++;
    else this.used++;
    const rate = {
      limit: this.limit,
      remaining: this.limit - this.used,
      resetAt: this.endsAt,
      retryAfterMs: undefined,
    };
    return { refused, rate };
  }
}

interface Options {
  clock: Clock;
  reserve?: number;
  maxWaitMs?: number;
  name?: string;
}

/** The window as seen by one process. Windows with the same name share their files. */
function windowOf({ clock, reserve = 0, maxWaitMs = Infinity, name = `${count++}` }: Options): RateWindow {
  return new RateWindow({
    clock,
    reserve,
    maxWaitMs,
    counter: new WindowFile(join(folder, name), 'https://x.example', KEY),
  });
}

async function request(window: RateWindow, service: Service): Promise<void> {
  const counted = await window.acquire();
  const { rate, refused } = service.take();
  window.observe(counted, rate, refused);
}

describe('the rate window', () => {
  it('never causes a 429 and uses each window fully', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 100 }),
        async (limit, requests) => {
          const clock = fakeClock();
          const service = new Service(limit, 3_000, clock);
          const window = windowOf({ clock });
          for (let i = 0; i < requests; i++) await request(window, service);
          expect(service.refused).toBe(0);
          expect(clock.slept).toHaveLength(Math.ceil(requests / limit) - 1);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('is shared by processes running at the same time', async () => {
    const clock = fakeClock();
    const service = new Service(40, 300, clock);
    const name = `${count++}`;
    const random = seeded(7);
    const windows = [1, 2, 3].map(() => windowOf({ clock, name }));
    const worker = async (window: RateWindow) => {
      for (let i = 0; i < 12; i++) {
        const counted = await window.acquire();
        await clock.sleep(random() * 5);
        const { rate, refused } = service.take();
        await clock.sleep(random() * 5);
        window.observe(counted, rate, refused);
      }
    };
    await Promise.all(windows.flatMap((window) => [worker(window), worker(window), worker(window)]));
    expect(service.refused).toBe(0);
  });

  it('counts requests in flight in another process, even if both discovered the window at the same time', async () => {
    const clock = fakeClock();
    const service = new Service(40, 3_000, clock);
    const name = `${count++}`;
    const [first, second] = [windowOf({ clock, name }), windowOf({ clock, name })];
    expect(second.reading()).toBeUndefined();
    await request(first, service);
    await clock.sleep(1);
    const inFlight = await Promise.all(Array.from({ length: 30 }, () => first.acquire()));
    await request(second, service);
    expect([inFlight.length, second.reading()?.free]).toEqual([30, 8]);
  });

  it('takes other clients into account and leaves the reserve unused', async () => {
    const clock = fakeClock();
    const service = new Service(100, 3_000, clock);
    const window = windowOf({ clock, reserve: 0.1 });
    await request(window, service);
    for (let i = 0; i < 50; i++) service.take();
    for (let i = 0; i < 39; i++) await request(window, service);
    expect([service.used, clock.slept]).toEqual([90, []]);
    expect(window.reading()).toMatchObject({ limit: 100, free: 0 });
    await request(window, service);
    expect([service.used, clock.slept.length, service.refused]).toEqual([1, 1, 0]);
  });

  it('fails with RATE_LIMITED when the wait is longer than allowed', async () => {
    const clock = fakeClock();
    const service = new Service(2, 3_000, clock);
    const window = windowOf({ clock, maxWaitMs: 0 });
    await request(window, service);
    await request(window, service);
    await expect(window.acquire()).rejects.toMatchObject({ code: 'RATE_LIMITED', status: 429 });
    expect(clock.slept).toEqual([]);
  });

  it('sends the first request alone, and the others once it reports no limit', async () => {
    const window = windowOf({ clock: fakeClock() });
    const counted = await window.acquire();
    const others = [1, 2, 3].map(() => window.acquire().then(() => 'through'));
    const first = await Promise.race([...others, systemClock.sleep(20).then(() => 'held back')]);
    expect(first).toBe('held back');
    window.observe(counted, {
      limit: undefined,
      remaining: undefined,
      resetAt: undefined,
      retryAfterMs: undefined,
    });
    expect(await Promise.all(others)).toEqual(['through', 'through', 'through']);
  });

  it.each([
    ['long ago', -1e9],
    ['in another year', 1e11],
  ])('ignores a reset %s', async (_, offset) => {
    const clock = fakeClock();
    const window = windowOf({ clock });
    for (let i = 0; i < 20; i++) {
      const counted = await window.acquire();
      window.observe(counted, {
        limit: 2,
        remaining: 0,
        resetAt: clock.now() + offset,
        retryAfterMs: undefined,
      });
    }
    expect(clock.slept).toEqual([]);
  });

  it('continues if no response arrives in a new window', async () => {
    const clock = fakeClock();
    const service = new Service(3, 3_000, clock);
    const window = windowOf({ clock });
    for (let i = 0; i < 3; i++) await request(window, service);
    clock.time += 4_000;
    for (let i = 0; i < 10; i++) {
      window.observe(await window.acquire(), undefined);
    }
    expect(clock.slept.length).toBeGreaterThan(0);
  });

  it('stores no key in its files, and works without a folder', async () => {
    const clock = fakeClock();
    const name = `${count++}`;
    await request(windowOf({ clock, name }), new Service(5, 3_000, clock));
    const names = await readdir(join(folder, name));
    expect(names.join()).not.toContain('canary');
    const service = new Service(5, 3_000, clock);
    const window = new RateWindow({
      clock,
      reserve: 0,
      maxWaitMs: Infinity,
      counter: new WindowFile('/dev/null/no-folder', 'https://x.example', KEY),
    });
    for (let i = 0; i < 12; i++) await request(window, service);
    expect([service.refused, clock.slept.length]).toEqual([0, 2]);
  });
});
