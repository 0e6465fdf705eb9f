import type * as crypto from 'node:crypto';
import { beforeEach, expect, it, vi } from 'vitest';
import { checkSignature, sign } from '../../../src/webhooks/receive/signature.ts';

/*
 * How long a comparison takes can't be tried here. What can: that the one comparison which takes the same time for all bytes
 * is asked for every secret, and that nothing else decides.
 */
const compare = vi.hoisted(() => vi.fn());
vi.mock('node:crypto', async (original) => ({
  ...(await original<typeof crypto>()),
  timingSafeEqual: compare,
}));

const body = Buffer.from('{"event":"envelope.sent"}');
beforeEach(() => compare.mockReset());

it('asks it for every secret, also after one has matched', () => {
  compare.mockReturnValue(true);
  checkSignature(body, sign(body, 'one'), ['one', 'two', 'three']);
  expect(compare).toHaveBeenCalledTimes(3);
});

it.each([true, false])('lets it alone decide (%s)', (verdict) => {
  compare.mockReturnValue(verdict);
  for (const secret of ['right', 'wrong'])
    expect(checkSignature(body, sign(body, 'right'), [secret]).ok).toBe(verdict);
});
