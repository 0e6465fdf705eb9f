import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../../src/webhooks/receive/delivery.ts';
import { NO_PAYLOAD } from '../../../src/webhooks/receive/payload.ts';
import { RefusalBudget } from '../../../src/webhooks/receive/refusal-budget.ts';

const MINUTE = 60_000;
const refused = (): Delivery => ({
  ...NO_PAYLOAD,
  deliveryId: 'dlv_1',
  id: 'x',
  receivedAt: '2026-01-02T03:04:05Z',
  verified: false,
  ...{
    duplicate: false,
    reason: 'no signature',
    answer: 401,
    raw: Buffer.from('x'),
    bytes: 1,
    headers: [],
  },
});

function world() {
  const warnings: string[] = [];
  const clock = { time: Date.UTC(2026, 0, 2), now: () => clock.time, sleep: () => Promise.resolve() };
  return { clock, warnings, budget: new RefusalBudget(clock, (message) => warnings.push(message)) };
}

describe('refused deliveries', () => {
  it('are recorded up to 1,000 a day, then counted once a minute', () => {
    const { clock, warnings, budget } = world();
    for (let at = 0; at < 1_000; at++)
      expect(budget.admit(refused())).toMatchObject({ reason: 'no signature' });
    expect(warnings).toHaveLength(1);
    const records: Delivery[] = [];
    for (let at = 0; at < 6_000; at++) {
      clock.time += 100;
      const record = budget.admit(refused());
      if (record !== undefined) records.push(record);
    }
    expect(records).toHaveLength(10);
    expect(records.map(({ raw, headers }) => [raw.length, headers.length])).toEqual(Array(10).fill([0, 0]));
    // Each was counted once.
    const counted = [...records, budget.rest()].map((one) =>
      Number(/(\d+) more/.exec(one?.reason ?? '')?.[1]),
    );
    expect(counted.reduce((sum, one) => sum + one, 0)).toBe(6_000);
    expect(budget.rest()).toBeUndefined();
  });

  it('are recorded again the next day', () => {
    const { clock, budget } = world();
    for (let at = 0; at < 1_500; at++) budget.admit(refused());
    clock.time += 24 * 60 * MINUTE;
    expect(budget.admit(refused())).toMatchObject({ reason: 'no signature' });
  });
});
