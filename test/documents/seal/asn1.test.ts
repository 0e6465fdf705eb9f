import { describe, expect, it } from 'vitest';
import { Element, UnreadableSignatureError } from '../../../src/documents/seal/asn1.ts';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const NULLS = (count: number) => Buffer.alloc(2 * count, hex('0500'));

/** A SEQUENCE with a long-form length. */
function sequence(inside: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(inside.length);
  return Buffer.concat([hex('3084'), length, inside]);
}

describe('an ASN.1 value', () => {
  it.each([
    ['with an indefinite length', '3080 020105 0000', '3003 020105'],
    ['with an indefinite length inside another', '3080 3180 020105 0000 0500 0000', '3007 3103 020105 0500'],
    ['with an indefinite length inside a definite one', '3007 3180 020105 0000', '3005 3103 020105'],
  ])('reads %s like a value with a definite length', (_, loose, strict) => {
    const { element, length } = Element.readFirst(Buffer.concat([hex(loose), hex('000000')]));
    expect(element.raw.toString('hex')).toBe(hex(strict).toString('hex'));
    expect(length).toBe(hex(loose).length);
  });

  it('keeps a value with a length byte for byte, even if the length could be shorter', () => {
    const bytes = sequence(hex('3081 03 020105'));
    expect(Element.read(bytes).raw.equals(bytes)).toBe(true);
  });

  it.each([
    ['without an end', '3080 020105'],
    ['with half an end', '3080 020105 00'],
    ['whose end is after its container', '3004 3180 0500 0000'],
    ['that is primitive with an indefinite length', '0480 0500 0000'],
    ['that is longer than its container', '3003 020305'],
    ['that has no bytes', ''],
  ])("doesn't read %s", (_, bytes) => {
    expect(() => Element.read(hex(bytes))).toThrow(UnreadableSignatureError);
  });

  it('allows thousands of nested values, like a revocation list, but not millions', () => {
    expect(Element.read(sequence(NULLS(50_000))).parts).toHaveLength(50_000);
    expect(() => Element.read(sequence(NULLS(1_000_000)))).toThrow(UnreadableSignatureError);
    const loose = Buffer.concat([hex('3080'), Buffer.alloc(4_000_000, hex('30800000')), hex('0000')]);
    expect(() => Element.read(loose)).toThrow(UnreadableSignatureError);
    expect(() => Element.read(Buffer.alloc(100_000, hex('3080')))).toThrow(UnreadableSignatureError);
  });
});
