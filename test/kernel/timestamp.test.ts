import { expect, it } from 'vitest';
import { timeOf, writtenTime } from '../../src/kernel/clock.ts';

it('reads a timestamp without a zone as UTC, in any local time zone', () => {
  const zone = process.env.TZ;
  try {
    for (const tz of ['Asia/Tokyo', 'America/New_York', 'UTC']) {
      process.env.TZ = tz;
      expect(timeOf('2026-11-22T10:00:00')).toBe(Date.UTC(2026, 10, 22, 10));
      expect(timeOf('2026-11-22T10:00:00.250')).toBe(Date.UTC(2026, 10, 22, 10, 0, 0, 250));
      expect(timeOf('2026-11-22T10:00:00Z')).toBe(Date.UTC(2026, 10, 22, 10));
      expect(timeOf('2026-11-22T10:00:00+01:00')).toBe(Date.UTC(2026, 10, 22, 9));
      for (const text of ['2026-11-22T10:00', '2026-11-22 10:00:00', '2026-11-22T12:00+02:00'])
        expect(writtenTime(text)).toBe(Date.UTC(2026, 10, 22, 10));
      expect(writtenTime('2028-02-29')).toBe(Date.UTC(2028, 1, 29));
    }
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
});

it('returns NaN for an invalid timestamp', () => {
  for (const text of [undefined, null, '', 'soon']) expect(timeOf(text)).toBeNaN();
});

it.each([
  '',
  '0',
  '9d',
  '2026',
  '2026-02-29',
  '2026-06-31T10:00:00Z',
  '2026-13-01',
  '2026-01-01 soon',
  '2026-01-01Tx',
])('reads %j as no time', (text) => {
  expect(writtenTime(text)).toBeNaN();
});
