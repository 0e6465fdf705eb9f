import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { momentOf } from '../../src/cli/flags.ts';
import { parseDuration } from '../../src/kernel/duration.ts';
import { readDuration } from '../../src/kernel/duration-input.ts';

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

describe.each([
  ['Africa/Cairo', '2027-04-30T10:00:00+03:00', '2027-04-30T01:00:00+03:00', '2027-04-29T00:00:00+02:00'],
  ['Asia/Beirut', '2027-03-28T10:00:00+03:00', '2027-03-28T01:00:00+03:00', '2027-03-27T00:00:00+02:00'],
  ['America/Santiago', '2027-09-05T10:00:00-03:00', '2027-09-05T01:00:00-03:00', '2027-09-04T00:00:00-04:00'],
  ['America/Havana', '2027-03-14T10:00:00-04:00', '2027-03-14T01:00:00-04:00', '2027-03-13T00:00:00-05:00'],
  ['America/Havana', '2026-11-01T10:00:00-05:00', '2026-11-01T00:00:00-04:00', '2026-10-31T00:00:00-04:00'],
  ['Europe/Berlin', '2027-03-29T10:00:00+02:00', '2027-03-29T00:00:00+02:00', '2027-03-28T00:00:00+01:00'],
  ['Pacific/Apia', '2026-11-28T10:00:00+13:00', '2026-11-28T00:00:00+13:00', '2026-11-27T00:00:00+13:00'],
])('in %s at %s', (zone, now, today, yesterday) => {
  beforeEach(() => void vi.stubEnv('TZ', zone));
  afterEach(() => void vi.unstubAllEnvs());

  it.each([
    ['today', today],
    ['yesterday', yesterday],
  ])('%s begins at local midnight', (text, begin) => {
    expect(momentOf(text, '--since')(Date.parse(now))).toBe(Date.parse(begin));
  });
});

describe('a duration', () => {
  it.each([
    ['90 seconds', 90_000],
    ['1 day', DAY],
    ['1 day 2 hours', DAY + 7_200_000],
    ['1d2h', DAY + 7_200_000],
    ['90', undefined],
    ['1.5', undefined],
    ['1M', undefined],
    ['1 M', undefined],
    ['1h30M', undefined],
    ['7D', 7 * DAY],
    ['1 Minute', 60_000],
    ['5 daysx', undefined],
    ['2 months', undefined],
  ])('is parsed from %s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each([
    ['30', 'Add a unit, such as 30s, 30m, 30h, or 30d.'],
    ['1M', 'For months, use days: 30d. For minutes, use 1m.'],
    ['2mo', 'For months, use days: 60d. For minutes, use 2m.'],
    ['soon', 'Examples: 90s, 15m, 2h, 7d'],
  ])('is refused with the way to write it: %s', (text, hint) => {
    expect(() => readDuration(text)).toThrow(expect.objectContaining({ code: 'USAGE', hint }));
  });
});
