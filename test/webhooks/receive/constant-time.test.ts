import type * as crypto from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type * as explain from '../../../src/webhooks/receive/explain-mismatch.ts';
import type * as signature from '../../../src/webhooks/receive/signature.ts';

/*
 * The duration of a comparison can't be tested here. Instead, the tests show that the one constant-time comparison is
 * called for every secret, and that nothing else decides.
 */
const compare = vi.fn<typeof crypto.timingSafeEqual>();
let checkSignature: typeof signature.checkSignature;
let sign: typeof signature.sign;
let explainMismatch: typeof explain.explainMismatch;

// Test files share their modules, so these are loaded again for this one.
beforeAll(async () => {
  vi.resetModules();
  vi.doMock('node:crypto', async (original) => ({
    ...(await original<typeof crypto>()),
    timingSafeEqual: compare,
  }));
  ({ checkSignature, sign } = await import('../../../src/webhooks/receive/signature.ts'));
  ({ explainMismatch } = await import('../../../src/webhooks/receive/explain-mismatch.ts'));
});
afterAll(() => {
  vi.doUnmock('node:crypto');
  vi.resetModules();
});

const body = Buffer.from('{"event":"envelope.sent"}');
beforeEach(() => compare.mockReset());

it('compares every secret, even after one has matched', () => {
  compare.mockReturnValue(true);
  checkSignature(body, sign(body, 'one'), ['one', 'two', 'three']);
  expect(compare).toHaveBeenCalledTimes(3);
});

it.each([true, false])('accepts a signature only by the constant-time comparison (%s)', (verdict) => {
  compare.mockReturnValue(verdict);
  for (const secret of ['right', 'wrong'])
    expect(checkSignature(body, sign(body, 'right'), [secret]).ok).toBe(verdict);
});

it('explains a mismatch only by the constant-time comparison', () => {
  compare.mockReturnValue(false);
  const reason = explainMismatch(body, null, sign(body, 'right'), ['right']);
  expect(reason).toContain('does not match');
});
