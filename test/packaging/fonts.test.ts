import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PDF } from '@libpdf/core';
import { describe, expect, it } from 'vitest';
import { prepareFonts } from '../sandbox/reader.ts';

const root = join(import.meta.dirname, '../..');
const FONTS = {
  'NotoSans_400Regular.ttf': 'noto-sans/400Regular',
  'NotoSans_600SemiBold.ttf': 'noto-sans/600SemiBold',
  'Caveat_500Medium.ttf': 'caveat/500Medium',
};
/** The width of each character in a font. */
function widthsIn(file: Buffer): Map<string, number> {
  const font = PDF.create().embedFont(file);
  const all = Array.from({ length: 0x2_0000 }, (_, code) => String.fromCodePoint(code));
  const known = all.filter((character) => font.canEncode(character));
  return new Map(known.map((character) => [character, font.getTextWidth(character, 1_000)]));
}

/** The outline of the first glyph, which is the box for the characters that a font doesn't have. */
function boxIn(file: Buffer): Buffer {
  const offsetOf = (table: string) => file.readUInt32BE(file.indexOf(table) + 8);
  const isLong = file.readUInt16BE(offsetOf('head') + 50) === 1;
  const loca = offsetOf('loca');
  const length = isLong ? file.readUInt32BE(loca + 4) : file.readUInt16BE(loca + 2) * 2;
  return file.subarray(offsetOf('glyf'), offsetOf('glyf') + length);
}

describe('a shipped font', () => {
  it.each(Object.entries(FONTS))('has the characters and the box of the whole font: %s', (file, source) => {
    prepareFonts();
    const shipped = readFileSync(join(root, 'dist/fonts', file));
    const whole = readFileSync(join(root, 'node_modules/@expo-google-fonts', source, file));
    expect(widthsIn(shipped)).toEqual(widthsIn(whole));
    expect(boxIn(shipped)).toEqual(boxIn(whole));
    expect(boxIn(shipped).length).toBeGreaterThan(0);
  });
});
