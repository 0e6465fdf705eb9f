import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { initialsOf } from '../../../src/sandbox/documents/drawing/filled-fields.ts';
import { deviceOf } from '../../../src/sandbox/documents/drawing/signer-table.ts';
import { subsetFont } from '../../../src/sandbox/documents/pdf/subset.ts';
import { openFaces } from '../../../src/sandbox/documents/text/faces.ts';
import { fontFolder } from '../../../src/sandbox/documents/text/folder.ts';
import type { ShapedLine } from '../../../src/sandbox/documents/text/shape.ts';
import { createTypesetter } from '../../../src/sandbox/documents/text/typesetter.ts';
import { quoted } from '../../../src/sandbox/documents/text/untrusted.ts';
import { prepareFonts } from './reader.ts';

beforeAll(prepareFonts);

/** The characters in the order of their glyphs, left to right. */
function fromLeft(line: ShapedLine): string {
  return line.pieces
    .map((piece) =>
      piece.kind === 'box' ? `[${piece.label.text}]` : piece.run.glyphs.map(({ text }) => text).join(''),
    )
    .join('');
}

const reversed = (text: string): string => [...text].reverse().join('');

describe('shaping', () => {
  it('sets right-to-left text from the right, and numbers in it from the left', () => {
    const type = createTypesetter();
    expect(fromLeft(type.shape('שלום', 'text', 'auto'))).toBe(reversed('שלום'));
    expect(fromLeft(type.shape('דוד 42 לוי', 'text', 'auto'))).toBe(
      `${reversed('לוי')} 42 ${reversed('דוד')}`,
    );
  });

  it('isolates a quoted right-to-left name from its context', () => {
    const type = createTypesetter();
    const line = type.shape(`by ${quoted('דוד')} · 2026`, 'text');
    expect(fromLeft(line)).toBe(`by ${reversed('דוד')} · 2026`);
  });

  it('joins Arabic letters: inside a word they have other shapes than alone', () => {
    const type = createTypesetter();
    const shapes = (text: string): number[] =>
      type
        .shape(text, 'text')
        .pieces.flatMap((piece) => (piece.kind === 'box' ? [] : piece.run.glyphs.map(({ id }) => id)));
    expect(shapes('حمد')).toHaveLength(3);
    expect(shapes('حمد').toSorted()).not.toEqual([...'حمد'].flatMap(shapes).toSorted());
  });

  it('emits no glyph zero, and shows characters that no font has', () => {
    const type = createTypesetter();
    for (const text of [
      'Łukasz',
      '李小龍',
      'Ελένη',
      'Дмитрий',
      'Nguyễn',
      'とうきょう',
      '김철수',
      'क्षत्रिय',
      'สมชาย',
      '😀',
      '\u1100\u1161\u11a8',
    ]) {
      for (const piece of type.shape(text, 'text').pieces) {
        expect(piece.kind === 'glyphs' && piece.run.glyphs.every(({ id }) => id !== 0), text).toBe(true);
      }
    }
    expect(fromLeft(type.shape('a\u{10380}\u202e\u0007b', 'text'))).toBe('a[U+10380][U+202E][U+0007]b');
  });

  it('detects whether the handwriting font has every character', () => {
    const type = createTypesetter();
    expect(
      ['Łukasz Řehoř', 'Дмитрий', 'Nguyễn', '李小龍', 'Ann\u202e'].map((text) => type.covers(text, 'hand')),
    ).toEqual([true, true, false, false, false]);
  });
});

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 120 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
);

describe('typesetting', () => {
  it('wraps any text into lines of the given width, and loses nothing but white space', {
    tags: ['full'],
  }, () => {
    const type = createTypesetter();
    const squeezed = (text: string): string => text.replace(/\s+/gu, '');
    fc.assert(
      fc.property(anyText, (text) => {
        const lines = type.wrap(text, 'text', 10, 120);
        expect(squeezed(lines.join(''))).toBe(squeezed(text));
        // Shaping a line as a whole can differ from its words by a little kerning.
        for (const line of lines)
          if ([...line].length > 1) expect(type.width(line, 'text', 10)).toBeLessThan(122);
      }),
      { numRuns: 150 },
    );
  });

  it('fits any text into a box', { tags: ['full'] }, () => {
    const type = createTypesetter();
    const options = { width: 150, height: 40, largest: 10, smallest: 6, leading: 1.2 };
    fc.assert(
      fc.property(anyText, (text) => {
        const { lines, size } = type.fit([text], 'text', options);
        expect(size).toBeGreaterThanOrEqual(6);
        expect(lines.length * size * 1.2).toBeLessThanOrEqual(40 + 1e-6);
        for (const line of lines) expect(type.width(line, 'text', size)).toBeLessThan(152);
      }),
      { numRuns: 150 },
    );
  });

  it('reports when text had to be truncated', () => {
    const type = createTypesetter();
    const options = { width: 100, height: 12, largest: 10, smallest: 8, leading: 1.2 };
    expect(type.fit(['short'], 'text', options)).toMatchObject({
      lines: ['short'],
      size: 10,
      complete: true,
    });
    const cut = type.fit(['a text that is much too long for this box'], 'text', options);
    expect(cut.complete).toBe(false);
    expect(cut.lines.at(-1)).toMatch(/^a text .*…$/);
  });
});

describe('fonts', () => {
  let folder: string | undefined;
  afterEach(() => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    folder = undefined;
  });

  it('are found above a bundle, and reported with a fix if they are missing', () => {
    folder = mkdtempSync(join(tmpdir(), 'esign-fonts-'));
    const chunk = join(folder, 'dist', 'chunks', 'documents.js');
    expect(() => fontFolder(chunk)).toThrow('scripts/fonts.mjs');
    mkdirSync(join(folder, 'dist', 'fonts'), { recursive: true });
    writeFileSync(join(folder, 'dist', 'fonts', 'fonts.json'), '{}');
    expect(fontFolder(chunk)).toBe(join(folder, 'dist', 'fonts'));
    expect(() => openFaces(join(folder ?? '', 'dist', 'fonts'))).toThrow();
  });

  it('are subset to the used glyphs and their components', { tags: ['full'] }, () => {
    const face = openFaces().byUse('text');
    const glyph = (character: string): number => face.font.nominalGlyph(character.codePointAt(0) ?? 0) ?? 0;
    const one = subsetFont(face.data, [glyph('A')]);
    const composite = subsetFont(face.data, [glyph('Å')]);
    expect(one.length).toBeLessThan(face.data.length / 5);
    expect(composite.length).toBeGreaterThan(subsetFont(face.data, []).length);
    expect(subsetFont(face.data, [glyph('A')])).toEqual(one);
  });
});

describe('text for the documents', () => {
  it.each([
    ['Ada Lovelace', 'AL'],
    ['  jean-luc   picard ', 'jp'],
    ['李小龍', '李'],
    ['A B C D E F', 'ABCD'],
    ['', ''],
  ])('has the initials of %j', (name, initials) => {
    expect(initialsOf(name)).toBe(initials);
  });

  it.each([
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0',
      'Edge 126 on Windows',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/126.0 Mobile/15E148 Safari/604.1',
      'Chrome 126 on iOS',
    ],
    ['curl/8.5.0', 'curl/8.5.0'],
    ['x'.repeat(100), `${'x'.repeat(60)}…`],
  ])('describes the device of %s', (userAgent, device) => {
    expect(deviceOf(userAgent)).toBe(device);
  });
});
