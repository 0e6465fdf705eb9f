import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRateLimit } from '../../src/api/rate-headers.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const NOTHING = { limit: undefined, remaining: undefined, resetAt: undefined, retryAfterMs: undefined };
const dateOf = (ms: number) => new Date(ms).toUTCString();

describe('the rate-limit headers', () => {
  it('contain the limit, the remaining requests, the reset, and the wait', () => {
    const headers = {
      'x-ratelimit-limit': '2000',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(NOW / 1_000 + 900),
      'retry-after': '90',
    };
    expect(readRateLimit(headers, NOW)).toEqual({
      limit: 2_000,
      remaining: 0,
      resetAt: NOW + 900_000,
      retryAfterMs: 90_000,
    });
  });

  it('may all be missing', () => {
    expect(readRateLimit({}, NOW)).toEqual(NOTHING);
    expect(readRateLimit({ date: dateOf(NOW + 60_000) }, NOW)).toEqual(NOTHING);
  });

  it.each(['', 'soon', '-5', '5 left', 'x5', '1.', '.5', '1.5.2', '0x10', '1e3', '١'])(
    'are ignored if they are not numbers: %j',
    (value) => {
      const headers = {
        'x-ratelimit-limit': value,
        'x-ratelimit-remaining': value,
        'x-ratelimit-reset': value,
      };
      expect(readRateLimit(headers, NOW)).toEqual(NOTHING);
    },
  );

  it('may contain spaces or fractions, and the first of several values is used', () => {
    const headers = {
      'x-ratelimit-limit': ' 2000 ',
      'x-ratelimit-remaining': ['12', '13'],
      'x-ratelimit-reset': '1767323045.125',
    };
    expect(readRateLimit(headers, NOW)).toMatchObject({
      limit: 2_000,
      remaining: 12,
      resetAt: 1_767_323_045_125,
    });
  });

  it('read the reset in seconds and in milliseconds as the same time', () => {
    const seconds = fc.integer({ min: Date.UTC(2000) / 1_000, max: Date.UTC(2200) / 1_000 });
    fc.assert(
      fc.property(seconds, (at) => {
        for (const text of [String(at), String(at * 1_000)])
          expect(readRateLimit({ 'x-ratelimit-reset': text }, NOW).resetAt).toBe(at * 1_000);
      }),
    );
  });

  it('never exceed the range of a date, so that they can always be displayed', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^\d{1,30}$/), (text) => {
        const { resetAt } = readRateLimit({ 'x-ratelimit-reset': text, date: dateOf(NOW - 60_000) }, NOW);
        if (resetAt !== undefined) expect(() => new Date(resetAt).toISOString()).not.toThrow();
      }),
    );
    expect(readRateLimit({ 'x-ratelimit-reset': '9'.repeat(20) }, NOW).resetAt).toBeUndefined();
  });
});

describe('a service clock that differs from the local clock', () => {
  it.each([
    ['is ignored if it may be latency', 2_999, 0],
    ['is ignored if it may be latency, behind', -2_999, 0],
    ['moves the reset from 3 seconds up', 3_000, 3_000],
    ['moves the reset from 3 seconds up, behind', -3_000, -3_000],
    ['moves the reset by hours', 7_200_000, 7_200_000],
  ])('%s', (_, ahead, moved) => {
    const theirs = NOW - 5_000;
    const here = theirs + ahead;
    const headers = { date: dateOf(theirs), 'x-ratelimit-reset': String((theirs + 60_000) / 1_000) };
    expect(readRateLimit(headers, here).resetAt).toBe(theirs + 60_000 + moved);
  });

  it("doesn't change the reset if the response has no date", () => {
    const reset = { 'x-ratelimit-reset': String(NOW / 1_000 + 60) };
    expect(readRateLimit({ ...reset, date: 'yesterday' }, NOW).resetAt).toBe(NOW + 60_000);
    expect(readRateLimit({ ...reset, date: [dateOf(NOW + 9e6)] }, NOW).resetAt).toBe(NOW + 60_000);
  });
});

describe('Retry-After', () => {
  const waitOf = (value: string | string[], date?: string) =>
    readRateLimit({ 'retry-after': value, ...(date === undefined ? {} : { date }) }, NOW).retryAfterMs;

  it.each([
    ['seconds', '7', 7_000],
    ['no wait', '0', 0],
    ['a date', dateOf(NOW + 5_000), 5_000],
    ['a date that has passed', dateOf(NOW - 5_000), 0],
    ['no time', 'later', undefined],
  ])('accepts %s', (_, value, ms) => {
    expect(waitOf(value)).toBe(ms);
  });

  it('uses the first of several values', () => {
    expect(waitOf(['7', '9'])).toBe(7_000);
    expect(waitOf([dateOf(NOW), 'x'])).toBeUndefined();
  });

  it("reads a date by the service's clock", () => {
    const theirs = NOW + 3_600_000;
    expect(waitOf(dateOf(theirs + 5_000), dateOf(theirs))).toBe(5_000);
    expect(waitOf(dateOf(NOW - 3_600_000 + 5_000), dateOf(NOW - 3_600_000))).toBe(5_000);
  });
});
