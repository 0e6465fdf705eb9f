import { expect, it } from 'vitest';
import { distributionOf } from '../../src/reports/distribution.ts';

const HOUR = 3_600_000;
/** The lengths at which the next bucket begins, in hours. */
const LIMITS = [1, 8, 24, 2 * 24, 4 * 24, 7 * 24, 14 * 24, 28 * 24];

const countsOf = (...durations: number[]) => distributionOf(durations).map(({ count }) => count);
const only = (index: number) => Array.from({ length: 9 }, (_, i) => Number(i === index));

it.each(LIMITS.map((hours, index) => [hours, index] as const))(
  'counts a duration of %d hours in the next longer bucket, and a shorter one below',
  (hours, index) => {
    expect(countsOf(hours * HOUR - 1)).toEqual(only(index));
    expect(countsOf(hours * HOUR)).toEqual(only(index + 1));
  },
);

it('counts every duration', () => {
  expect(countsOf(0, 0, 3 * HOUR, 1e12)).toEqual([2, 1, 0, 0, 0, 0, 0, 0, 1]);
});
