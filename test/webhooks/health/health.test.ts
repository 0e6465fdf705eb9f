import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/kernel/clock.ts';
import type { OldestPending } from '../../../src/webhooks/forward/queue.ts';
import { Health } from '../../../src/webhooks/health/health.ts';
import { metricsText } from '../../../src/webhooks/health/server.ts';
import type { Delivery } from '../../../src/webhooks/receive/delivery.ts';
import { NO_PAYLOAD } from '../../../src/webhooks/receive/payload.ts';

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

/** A clock that the test moves; its sleepers wake only when they are aborted. */
class HandClock implements Clock {
  time = Date.UTC(2026, 0, 2, 3, 4, 5);
  /** The offset of the clock. */
  skew = 0;
  now = () => this.time + this.skew;
  /** How long the machine has slept. */
  slept = 0;
  elapsed = () => this.time - this.slept;
  sleep = (_ms: number, signal?: AbortSignal) =>
    new Promise<void>((_, reject) => {
      signal?.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
    });
}

interface World {
  clock: HandClock;
  health: Health;
  held: OldestPending | undefined;
  disk: Error | undefined;
  asked: number;
}

function world(knowsService = false): World {
  const clock = new HandClock();
  const found: World = {
    clock,
    held: undefined,
    disk: undefined,
    asked: 0,
    health: new Health({
      clock,
      elapsed: clock.elapsed,
      checkJournal: () => (found.disk === undefined ? Promise.resolve() : Promise.reject(found.disk)),
      forwarding: {
        get oldestPending() {
          return found.held;
        },
        pending: 0,
      },
      serviceTime: knowsService
        ? () => {
            found.asked++;
            return Promise.resolve(clock.time);
          }
        : undefined,
    }),
  };
  return found;
}

/** A delivery of an event of this age. */
function delivery(clock: HandClock, ageMs: number, kind: 'good' | 'forged' | 'noise' = 'good'): Delivery {
  const isGood = kind === 'good';
  const timestamp = new Date(clock.time - ageMs).toISOString();
  const payload = {
    ...NO_PAYLOAD,
    id: 'evt_1',
    event: 'envelope.sent',
    timestamp,
    envelopeId: 'env_1',
  };
  return {
    ...{
      ...(kind === 'noise' ? NO_PAYLOAD : payload),
      deliveryId: 'dlv_1',
      receivedAt: timestamp,
      raw: Buffer.alloc(0),
      bytes: 0,
      headers: [],
    },
    verified: isGood,
    duplicate: false,
    reason: isGood ? null : 'the signature does not match',
    answer: isGood ? 200 : 401,
  };
}

const codes = async ({ health }: World) => (await health.reasons()).map(({ code }) => code);
/** Waits until everything pending is done, including a response of the service. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** The events of a day: how often, in seconds, and what. None of them is a fault. */
const DAY: readonly (readonly [every: number, at: number, what: (one: World, hour: number) => void])[] = [
  [
    600,
    0,
    // Nobody signs at night.
    ({ clock, health }, hour) => {
      if (hour >= 8) health.received(delivery(clock, 2 * SECOND));
    },
  ],
  [
    7_200,
    1_000,
    // After an outage of the service, its queued events arrive together.
    ({ clock, health }) => {
      for (let n = 1; n < 50; n++) health.received(delivery(clock, n * MINUTE));
    },
  ],
  [14_400, 50, ({ clock, health }) => health.received(delivery(clock, 0, 'forged'))],
  [300, 70, ({ clock, health }) => health.received(delivery(clock, 0, 'noise'))],
  [
    3_600,
    0,
    ({ clock }, hour) => {
      clock.skew = ((hour % 5) - 2) * 10 * SECOND;
    },
  ],
  [
    3_600,
    10,
    // An application that restarts accepts a delivery at the fourth attempt.
    (one) => {
      one.held = { url: 'http://localhost/', ms: 20 * SECOND, error: 'ECONNREFUSED', behind: 0 };
    },
  ],
  [
    3_600,
    30,
    (one) => {
      one.held = undefined;
    },
  ],
  [
    28_800,
    40,
    // A laptop is closed for half an hour.
    ({ clock }) => {
      clock.time += 30 * MINUTE;
      clock.slept += 30 * MINUTE;
    },
  ],
];

describe('the health of a listener', () => {
  it.each([false, true])(
    'is never unhealthy over a day without a fault (with the service: %s)',
    async (knows) => {
      const one = world(knows);
      const { clock, health } = one;
      health.received(delivery(clock, 0));
      const reds: unknown[] = [];
      for (let second = 0; second < 24 * 3_600; second += 10) {
        clock.time += 10 * SECOND;
        for (const [every, at, what] of DAY) if (second % every === at) what(one, Math.floor(second / 3_600));
        reds.push(...(await health.reasons()));
        await settled();
      }
      expect(reds).toEqual([]);
      // Late deliveries cause requests, but not all the time.
      expect(one.asked).toBeLessThan(knows ? 400 : 1);
    },
  );

  it("is unhealthy while the disk can't be written, and while a delivery could not be stored", async () => {
    const one = world();
    one.disk = new Error('the disk is full');
    expect(await one.health.reasons()).toEqual([{ code: 'journal', message: 'the disk is full' }]);
    one.disk = undefined;
    one.clock.time += 3 * SECOND;
    expect(await codes(one)).toEqual([]);
    one.health.failed(new Error('the disk is full'));
    expect(await codes(one)).toEqual(['journal']);
    one.health.received(delivery(one.clock, 0));
    expect(await codes(one)).toEqual([]);
  });

  it('is unhealthy when the disk hangs', async () => {
    const clock = new HandClock();
    clock.sleep = () => Promise.resolve();
    const checkJournal = () => new Promise<void>(() => undefined);
    const health = new Health({ clock, checkJournal, forwarding: { oldestPending: undefined, pending: 0 } });
    expect(await health.reasons()).toEqual([]);
    clock.time += 7 * SECOND;
    expect(await health.reasons()).toMatchObject([
      { code: 'journal', message: expect.stringContaining('7 seconds') as unknown },
    ]);
  });

  it('is unhealthy when a forward is delayed for over 30 s, and gives the reason', async () => {
    const one = world();
    one.held = {
      url: 'http://localhost:3000/hooks?key=x',
      ms: 30 * SECOND,
      error: 'responded with 500',
      behind: 2,
    };
    expect(await codes(one)).toEqual([]);
    one.held.ms = 41 * SECOND;
    const message =
      'A forward to http://localhost:3000/hooks has been pending for 41 seconds (responded with 500); 2 more for its envelope are queued.';
    expect(await one.health.reasons()).toEqual([{ code: 'forward', message }]);
  });

  it('is unhealthy when nothing can be verified: the first delivery, or three in a row', async () => {
    const one = world();
    one.clock.time += 5 * MINUTE;
    one.health.received(delivery(one.clock, 0, 'forged'));
    const message =
      'There was no valid signature for 5 minutes, and 1 delivery was refused: the signature does not match.';
    expect(await one.health.reasons()).toEqual([{ code: 'signature', message }]);
    one.health.received(delivery(one.clock, 0));
    expect(await codes(one)).toEqual([]);
    const seen: string[][] = [];
    for (let n = 0; n < 3; n++) {
      one.health.received(delivery(one.clock, 0, 'forged'));
      seen.push(await codes(one));
    }
    expect(seen).toEqual([[], [], ['signature']]);
    one.clock.time += HOUR + MINUTE;
    expect(await codes(one)).toEqual([]);
  });

  it.each([-HOUR, HOUR])(
    "is unhealthy when its clock differs by %s ms from the service's, until it is corrected",
    async (skew) => {
      const one = world(true);
      expect(await codes(one)).toEqual([]);
      await settled();
      one.clock.skew = skew;
      one.clock.time += 6 * SECOND;
      await one.health.reasons();
      await settled();
      const where = skew > 0 ? 'ahead of' : 'behind';
      expect(await one.health.reasons()).toEqual([
        { code: 'clock', message: expect.stringContaining(`1 hour ${where}`) as unknown },
      ]);
      one.clock.skew = 0;
      expect(await codes(one)).toEqual([]);
    },
  );

  it('treats deliveries from the future as a wrong clock, without a request', async () => {
    const one = world();
    one.clock.skew = -10 * MINUTE;
    one.health.received(delivery(one.clock, 0));
    expect(await one.health.reasons()).toMatchObject([
      { code: 'clock', message: expect.stringContaining('10 minutes behind') as unknown },
    ]);
    // A delivery that is late by any clock doesn't revert that.
    one.health.received(delivery(one.clock, HOUR));
    expect(await codes(one)).toEqual(['clock']);
    one.clock.skew = 0;
    expect(await codes(one)).toEqual([]);
  });

  it('requests the time when a delivery seems late, and ignores what it received before the machine slept', async () => {
    const one = world(true);
    await one.health.reasons();
    await settled();
    one.health.received(delivery(one.clock, HOUR));
    one.clock.time += 6 * SECOND;
    expect(await codes(one)).toEqual([]);
    await settled();
    one.clock.time += HOUR;
    one.clock.slept += HOUR - 6 * SECOND;
    expect(await codes(one)).toEqual([]);
    await settled();
    expect([one.asked, await codes(one)]).toEqual([3, []]);
  });

  it('is exported to Prometheus', async () => {
    const one = world();
    one.health.received(delivery(one.clock, 0));
    one.health.failed(new Error('full'));
    one.health.forwarded({ error: 'responded with 500' });
    const text = metricsText(one.health, await one.health.reasons());
    for (const line of [
      'esign_listen_healthy 0',
      'esign_listen_unhealthy{reason="journal"} 1',
      'esign_listen_unhealthy{reason="clock"} 0',
      'esign_listen_deliveries_total{result="verified"} 1',
      'esign_listen_forwards_total{result="failed"} 1',
      '# TYPE esign_listen_failed_total counter',
      `esign_listen_last_verified_time_seconds ${one.clock.time / 1_000}`,
    ])
      expect(text.split('\n')).toContain(line);
    for (const line of text.trimEnd().split('\n'))
      expect(line).toMatch(/^(?:# (?:HELP|TYPE) esign_\w+ .+|esign_\w+(?:\{\w+="\w+"\})? [\d.e+]+)$/);
    expect(text.endsWith('\n')).toBe(true);
  });
});

describe('dropped connections', () => {
  it('are reported as unhealthy for a minute, counted, and reported once as a warning', async () => {
    const one = world();
    expect(one.health.dropped()).toBe(true);
    expect(one.health.dropped()).toBe(false);
    expect(await codes(one)).toEqual(['connections']);
    expect(metricsText(one.health, await one.health.reasons())).toContain(
      'esign_listen_dropped_connections_total 2',
    );
    one.clock.time += MINUTE;
    expect(await codes(one)).toEqual([]);
    expect(one.health.dropped()).toBe(true);
  });
});
