import { describe, expect, it } from 'vitest';
import { unsigned } from '../../scripts/pe.js';

const HEADER = 0x80;
const ENTRY = HEADER + 24 + 112 + 32;
const CODE = 0x200;

/** The part of a Windows program that locates its certificates. */
function program({ signature = '', more = '' } = {}): Buffer {
  const head = Buffer.alloc(CODE, 0xaa);
  head.writeUInt32LE(HEADER, 0x3c);
  head.writeUInt16LE(0x20b, HEADER + 24);
  head.writeUInt32LE(signature === '' ? 0 : CODE, ENTRY);
  head.writeUInt32LE(signature.length, ENTRY + 4);
  return Buffer.concat([head, Buffer.from(signature + more)]);
}

describe('a Windows program', () => {
  it('loses only its signature', () => {
    expect(unsigned(program({ signature: 'certificates' }))).toEqual(program());
    expect(unsigned(program())).toEqual(program());
  });

  it('is unchanged if data follow the signature', () => {
    expect(() => unsigned(program({ signature: 'certificates', more: '!' }))).toThrow('after its');
  });

  it('is distinguished from other files', () => {
    expect(() => unsigned(program().fill(0, HEADER))).toThrow('64-bit');
  });
});
