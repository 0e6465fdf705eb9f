import { expect, it } from 'vitest';
import { AccountHistory } from '../../src/rehearsal/history.ts';
import { stratifiedDraws } from '../../src/rehearsal/signers.ts';

const HOUR_MS = 3_600_000;
const NOW = Date.parse('2026-11-22T12:00:00Z');
const KIND = { templateId: 'tmpl_a', role: 'Tenant' };

function signedAfter(ms: number) {
  const sentAt = NOW - 40 * 24 * HOUR_MS;
  return {
    id: 'env_1',
    templateId: 'tmpl_a',
    status: 'COMPLETED',
    sentAt: new Date(sentAt).toISOString(),
    signers: [{ id: 's', role: 'Tenant', status: 'SIGNED', signedAt: new Date(sentAt + ms).toISOString() }],
  };
}

it('makes signers take as long as earlier ones', () => {
  const history = new AccountHistory(NOW);
  for (let hour = 1; hour <= 40; hour++) history.add(signedAfter(hour * HOUR_MS));
  const times = stratifiedDraws(400, 1, 'test')
    .map((draw) => history.behaviorOf(KIND, draw))
    .map((one) => (one.kind === 'signs' ? one.afterMs : Number.NaN));
  const mean = times.reduce((sum, ms) => sum + ms, 0) / times.length;
  expect(history.basisOf(KIND)).toBe('template+role');
  expect(mean / HOUR_MS).toBeGreaterThan(20);
  expect(mean / HOUR_MS).toBeLessThan(21);
});

it('uses default times without a history', () => {
  const history = new AccountHistory(NOW);
  expect(history.basisOf(KIND)).toBe('default');
  expect(history.behaviorOf(KIND, { outcome: 0.85, place: 0.85 })).toEqual({
    kind: 'signs',
    afterMs: expect.closeTo(7 * 24 * HOUR_MS, -2) as unknown,
  });
});
