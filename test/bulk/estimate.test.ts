import { expect, it } from 'vitest';
import { timeForRequests } from '../../src/bulk/estimate.ts';

const reading = { limit: 1_000, free: 600, resetAt: 300_000 };
it.each([
  [600, 0],
  [601, 300_000],
  [1_500, 300_000],
  [1_501, 300_000 + 900_000],
])('estimates that %i requests take %i ms', (requests, ms) => {
  expect(timeForRequests(requests, reading, 0)).toBe(ms);
});

it('is undefined without a window', () => {
  expect(timeForRequests(1_000, undefined, 0)).toBeUndefined();
});
