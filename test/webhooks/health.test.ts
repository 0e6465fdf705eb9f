import { describe, expect, it } from 'vitest';
import { Health } from '../../src/webhooks/health.ts';
import { NO_PAYLOAD } from '../../src/webhooks/receive/payload.ts';
import { fakeClock } from '../support/clock.ts';

const delivery = {
  ...NO_PAYLOAD,
  event: 'envelope.sent',
  envelopeId: 'env_1',
  deliveryId: 'dlv_1',
  receivedAt: '2026-01-02T03:04:05Z',
  verified: true,
  duplicate: false,
  reason: null,
  answer: 200,
  raw: Buffer.alloc(0),
  bytes: 0,
  headers: [],
};
const forged = { ...delivery, verified: false, reason: 'the signature is wrong', answer: 401 };

function healthOf(facts: Partial<ConstructorParameters<typeof Health>[0]> = {}) {
  return new Health({
    clock: fakeClock(),
    checkJournal: () => Promise.resolve(),
    oldestForward: () => undefined,
    hasTunnel: false,
    ...facts,
  });
}

async function codesOf(health: Health): Promise<string[]> {
  const { ok, reasons } = await health.report();
  expect(ok).toBe(reasons.length === 0);
  return reasons.map(({ code }) => code);
}

describe('the health of a listener', () => {
  it('is good without any traffic', async () => {
    expect(await healthOf().report()).toEqual({ ok: true, reasons: [], lastVerifiedAt: null });
  });

  it("is bad if the journal can't be written", async () => {
    expect(await codesOf(healthOf({ checkJournal: () => Promise.reject(new Error('full')) }))).toEqual([
      'journal',
    ]);
  });

  it('is bad if a forward has been waiting for over 30 s', async () => {
    const oldestForward = (ms: number) => () => ({ url: 'http://127.0.0.1:9/?key=canary', ms, error: 'x' });
    expect(await codesOf(healthOf({ oldestForward: oldestForward(30_000) }))).toEqual([]);
    const late = healthOf({ oldestForward: oldestForward(30_001) });
    expect(await codesOf(late)).toEqual(['forward']);
    expect(JSON.stringify(await late.report())).not.toContain('canary');
  });

  it('is bad after three deliveries in a row that could not be verified', async () => {
    const health = healthOf();
    for (const one of [forged, forged, delivery, forged, forged]) health.received(one);
    // Strangers' requests don't count.
    health.received({ ...forged, ...NO_PAYLOAD });
    expect(await codesOf(health)).toEqual([]);
    expect((await health.report()).lastVerifiedAt).not.toBeNull();
    health.received(forged);
    expect(await codesOf(health)).toEqual(['signature']);
    health.received(delivery);
    expect(await codesOf(health)).toEqual([]);
  });

  it('is bad until the tunnel is open', async () => {
    const health = healthOf({ hasTunnel: true });
    expect(await codesOf(health)).toEqual(['tunnel']);
    health.tunnelOpened();
    expect(await codesOf(health)).toEqual([]);
  });
});
