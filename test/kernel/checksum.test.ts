import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checksumOf } from '../../src/kernel/checksum.ts';

describe('checksumOf', () => {
  it('is the same for the same text, in any process', () => {
    expect(checksumOf('https://api.example.com\nesk_1')).toBe('81cb6353f25c881a');
  });

  it('is sixteen digits, and another one for a text that differs in one character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(), fc.nat(65_534), (text, place, shift) => {
        expect(checksumOf(text)).toMatch(/^[0-9a-f]{16}$/);
        if (text === '') return;
        const at = place % text.length;
        const other = String.fromCharCode((text.charCodeAt(at) + 1 + shift) % 65_536);
        expect(checksumOf(text.slice(0, at) + other + text.slice(at + 1))).not.toBe(checksumOf(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it('tells a hundred thousand keys apart', () => {
    const names = new Set<string>();
    for (let index = 0; index < 100_000; index++) names.add(checksumOf(`https://a.example\nesk_${index}`));
    expect(names.size).toBe(100_000);
  });
});
