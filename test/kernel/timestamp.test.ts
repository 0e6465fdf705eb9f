import { expect, it } from 'vitest';
import { timeOf } from '../../src/kernel/clock.ts';

it('reads a timestamp without a zone as UTC, in any local time zone', () => {
  const zone = process.env.TZ;
  try {
    for (const tz of ['Asia/Tokyo', 'America/New_York', 'UTC']) {
      process.env.TZ = tz;
      expect(timeOf('2026-11-22T10:00:00')).toBe(Date.UTC(2026, 10, 22, 10));
      expect(timeOf('2026-11-22T10:00:00.250')).toBe(Date.UTC(2026, 10, 22, 10, 0, 0, 250));
      expect(timeOf('2026-11-22T10:00:00Z')).toBe(Date.UTC(2026, 10, 22, 10));
      expect(timeOf('2026-11-22T10:00:00+01:00')).toBe(Date.UTC(2026, 10, 22, 9));
    }
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
});

it('returns NaN for an invalid timestamp', () => {
  for (const text of [undefined, null, '', 'soon']) expect(timeOf(text)).toBeNaN();
});
