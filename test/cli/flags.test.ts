import { describe, expect, it } from 'vitest';
import { momentOf } from '../../src/cli/flags.ts';
import { parseDuration } from '../../src/kernel/duration.ts';

const DAY = 86_400_000;
const NOON = new Date(2026, 2, 10, 12).getTime();

describe('a time in the past', () => {
  it.each([
    ['yesterday', new Date(2026, 2, 9).getTime()],
    ['Today', new Date(2026, 2, 10).getTime()],
    ['2 weeks', NOON - 14 * DAY],
    ['7d', NOON - 7 * DAY],
    ['2026-03-01', Date.UTC(2026, 2, 1)],
    ['2028-02-29', Date.UTC(2028, 1, 29)],
    ['2026-03-01 10:00', Date.UTC(2026, 2, 1, 10)],
    ['2026-03-01 10:00:00 +0200', Date.UTC(2026, 2, 1, 8)],
  ])('is parsed from %s', (text, time) => {
    expect(momentOf(text, '--since')(NOON)).toBe(time);
  });

  it.each([
    'tomorrow',
    '5',
    '2 fortnights',
    'days',
    '2026-02-29',
    '2026-02-30',
    '2026-13-01',
    '2026-04-31T12:00Z',
    '2026-04-30T25:00',
  ])('is refused: %s', (text) => {
    expect(() => momentOf(text, '--since')).toThrow(expect.objectContaining({ code: 'USAGE' }));
  });
});

describe('a duration', () => {
  it.each([
    ['90 seconds', 90_000],
    ['1 day', DAY],
    ['1 day 2 hours', DAY + 7_200_000],
    ['1d2h', DAY + 7_200_000],
    ['5 daysx', undefined],
    ['2 months', undefined],
  ])('is parsed from %s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });
});
