import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRange } from '../../../src/sandbox/bucket/objects.ts';

const size = fc.integer({ min: 0, max: 50 });
const position = fc.integer({ min: 0, max: 60 });

/** The meaning of a range, by examining each byte. */
function meant(length: number, isWanted: (at: number) => boolean) {
  const wanted = Array.from({ length }, (_, at) => at).filter(isWanted);
  const [start] = wanted;
  return start === undefined ? 'unsatisfiable' : { start, end: start + wanted.length };
}

describe('a Range header', () => {
  it('selects the bytes that it names', () => {
    fc.assert(
      fc.property(size, position, position, (length, a, b) => {
        const [first, last] = [Math.min(a, b), Math.max(a, b)];
        expect(parseRange(`bytes=${first}-${last}`, length)).toEqual(
          meant(length, (at) => at >= first && at <= last),
        );
        expect(parseRange(`bytes=${first}-`, length)).toEqual(meant(length, (at) => at >= first));
        expect(parseRange(`bytes=-${last}`, length)).toEqual(meant(length, (at) => at >= length - last));
      }),
    );
  });

  it('never reaches outside the object', () => {
    const header = fc.oneof(
      fc.string({ maxLength: 20 }).map((text) => `bytes=${text}`),
      fc.stringMatching(/^bytes=\d{0,30}-\d{0,30}$/),
    );
    fc.assert(
      fc.property(header, size, (text, length) => {
        const range = parseRange(text, length);
        if (typeof range === 'string') return;
        expect(range.start).toBeGreaterThanOrEqual(0);
        expect(range.end).toBeGreaterThan(range.start);
        expect(range.end).toBeLessThanOrEqual(length);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    undefined,
    '',
    'bytes=',
    'bytes=-',
    'bytes=5-2',
    'bytes=a-b',
    'items=0-1',
    'bytes=0-1,3-4',
    '0-1',
  ])('selects the whole object with %j', (header) => {
    expect(parseRange(header, 10)).toBe('whole');
  });
});
