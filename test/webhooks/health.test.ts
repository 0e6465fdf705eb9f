import { describe, expect, it } from 'vitest';
import { JournalError } from '../../src/kernel/errors.ts';
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
const MINUTE_MS = 60_000;
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

  it('is bad if no delivery could be verified for five minutes, but not after a burst of forgeries', async () => {
    const clock = fakeClock();
    const health = healthOf({ clock });
    for (const one of [forged, delivery, forged, forged, forged, forged]) health.received(one);
    expect(await codesOf(health)).toEqual([]);
    expect((await health.report()).lastVerifiedAt).not.toBeNull();
    clock.time += 5 * MINUTE_MS;
    // Strangers' requests don't count, and neither does time without any.
    health.received({ ...forged, ...NO_PAYLOAD });
    expect(await codesOf(health)).toEqual([]);
    health.received(forged);
    expect(await codesOf(health)).toEqual(['signature']);
    health.received(delivery);
    expect(await codesOf(health)).toEqual([]);
  });

  it('is bad for a minute after connections had to be closed', async () => {
    const clock = fakeClock();
    const health = healthOf({ clock });
    health.closedConnection();
    expect(await codesOf(health)).toEqual(['connections']);
    clock.time += MINUTE_MS;
    expect(await codesOf(health)).toEqual([]);
  });

  it('shows no path, neither of the application nor of a file', async () => {
    const url = 'http://user:canary@127.0.0.1:9/hooks/canary?key=canary';
    const cause = Object.assign(new Error('no space left, canary'), { code: 'ENOSPC' });
    const health = healthOf({
      oldestForward: () => ({ url, ms: 31_000, error: 'responded with 500' }),
      checkJournal: () => Promise.reject(new JournalError("Can't write /home/canary.", { cause })),
    });
    const { reasons } = await health.report();
    expect(JSON.stringify(reasons)).not.toContain('canary');
    expect(reasons.map(({ message }) => message)).toEqual([
      "The journal can't be written: the disk is full.",
      expect.stringContaining('http://127.0.0.1:9 has been waiting'),
    ]);
  });

  it('is bad until the tunnel is open', async () => {
    const health = healthOf({ hasTunnel: true });
    expect(await codesOf(health)).toEqual(['tunnel']);
    health.tunnelOpened();
    expect(await codesOf(health)).toEqual([]);
  });
});
