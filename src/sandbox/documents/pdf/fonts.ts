import { createHash } from 'node:crypto';
import {
  type PDF,
  PdfArray,
  PdfDict,
  PdfName,
  PdfNumber,
  type PdfRef,
  PdfStream,
  PdfString,
} from '@libpdf/core';
import type { Face } from '../text/faces.ts';
import type { Glyph, GlyphRun } from '../text/shape.ts';
import { subsetFont } from './subset.ts';

/** The maximum length of a ToUnicode entry. Readers reject longer ones, so longer text is written next to the glyph. */
const MAX_LENGTH = 8;

interface Usage {
  resource: string;
  face: Face;
  texts: Map<number, string>;
}

export type UsedFonts = ReturnType<typeof createUsedFonts>;

/**
 * Collects the glyphs that a document uses. Text is written as glyph numbers (Identity-H), because only shaping determines which glyphs a
 * text needs. A ToUnicode map per font lets readers convert glyphs back to characters.
 */
export function createUsedFonts() {
  const usages = new Map<string, Usage>();
  const usageOf = (face: Face): Usage => {
    const known = usages.get(face.name);
    if (known) return known;
    const usage = { resource: `F${usages.size + 1}`, face, texts: new Map<number, string>() };
    usages.set(face.name, usage);
    return usage;
  };
  return {
    /** Marks the run's glyphs as used. Returns the name of the face in a page's resources. */
    use(run: GlyphRun): string {
      const usage = usageOf(run.face);
      for (const glyph of run.glyphs) {
        const text = glyph.text.length > MAX_LENGTH ? '' : glyph.text;
        if (!usage.texts.get(glyph.id)) usage.texts.set(glyph.id, text);
      }
      return usage.resource;
    },
    /** Returns true if the glyph number alone maps back to the characters it represents here. */
    isReversible: (face: Face, glyph: Glyph) => usageOf(face).texts.get(glyph.id) === glyph.text,
    /** Writes the fonts and returns a /Font resource dictionary. Call it once, after all drawing. */
    embed: (pdf: PDF) =>
      new PdfDict([...usages.values()].map((usage) => [usage.resource, embedFont(pdf, usage)])),
  };
}

/** Returns a glyph's width in 1/1000 em, by which readers advance. */
export function glyphWidth(face: Face, glyphId: number): number {
  return Math.round((face.font.glyphHAdvance(glyphId) * 1000) / face.unitsPerEm);
}

function embedFont(pdf: PDF, { face, texts }: Usage): PdfRef {
  const glyphIds = [...texts.keys()].sort((a, b) => a - b);
  const name = PdfName.of(`${subsetTag(face, glyphIds)}+${face.name.replace(/[^A-Za-z0-9-]/g, '-')}`);
  const program = subsetFont(face.data, glyphIds);
  const file = pdf.register(PdfStream.fromDict({ Length1: PdfNumber.of(program.length) }, program));
  const descendant = pdf.register(
    PdfDict.of({
      Type: PdfName.of('Font'),
      Subtype: PdfName.of('CIDFontType2'),
      BaseFont: name,
      CIDSystemInfo: PdfDict.of({
        Registry: PdfString.fromString('Adobe'),
        Ordering: PdfString.fromString('Identity'),
        Supplement: PdfNumber.of(0),
      }),
      CIDToGIDMap: PdfName.of('Identity'),
      FontDescriptor: pdf.register(descriptor(face, name, file)),
      W: new PdfArray(
        glyphIds.flatMap((id) => [PdfNumber.of(id), new PdfArray([PdfNumber.of(glyphWidth(face, id))])]),
      ),
    }),
  );
  return pdf.register(
    PdfDict.of({
      Type: PdfName.of('Font'),
      Subtype: PdfName.of('Type0'),
      BaseFont: name,
      Encoding: PdfName.of('Identity-H'),
      DescendantFonts: new PdfArray([descendant]),
      ToUnicode: pdf.register(PdfStream.fromDict({}, Buffer.from(toUnicode(texts), 'latin1'))),
    }),
  );
}

function descriptor(face: Face, name: PdfName, file: PdfRef): PdfDict {
  const { ascender, descender } = face.font.hExtents();
  const em = (units: number): PdfNumber => PdfNumber.of(Math.round((units * 1000) / face.unitsPerEm));
  const head = face.font.face.referenceTable('head');
  const box = head
    ? [36, 38, 40, 42].map((at) => Buffer.from(head).readInt16BE(at))
    : [0, descender, face.unitsPerEm, ascender];
  return PdfDict.of({
    Type: PdfName.of('FontDescriptor'),
    FontName: name,
    // Symbolic: glyphs are addressed by number, not by a character set (ISO 32000-1, table 123).
    Flags: PdfNumber.of(4),
    FontBBox: new PdfArray(box.map(em)),
    ItalicAngle: PdfNumber.of(0),
    Ascent: em(ascender),
    Descent: em(descender),
    CapHeight: em(ascender * 0.7),
    StemV: PdfNumber.of(80),
    FontFile2: file,
  });
}

/**
 * Returns the six capital letters that name the subset (ISO 32000-1, 9.6.4). They are derived from its content, so that the same document
 * always has the same bytes.
 */
function subsetTag(face: Face, glyphIds: number[]): string {
  const digest = createHash('sha256')
    .update(`${face.name} ${glyphIds.join(' ')}`)
    .digest();
  return String.fromCharCode(...digest.subarray(0, 6).map((byte) => 65 + (byte % 26)));
}

function toUnicode(texts: Map<number, string>): string {
  const entries = [...texts].filter(([, text]) => text !== '').sort(([a], [b]) => a - b);
  const lines = entries.map(([id, text]) => `<${hex(id)}> <${utf16(text)}>`);
  const blocks: string[] = [];
  for (let start = 0; start < lines.length; start += 100) {
    const block = lines.slice(start, start + 100);
    blocks.push(`${block.length} beginbfchar\n${block.join('\n')}\nendbfchar`);
  }
  return `/CIDInit /ProcSet findresource begin
12 dict begin
begincmap
/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def
/CMapName /Adobe-Identity-UCS def
/CMapType 2 def
1 begincodespacerange
<0000> <FFFF>
endcodespacerange
${blocks.join('\n')}
endcmap
CMapName currentdict /CMap defineresource pop
end
end`;
}

/** Returns a glyph number as four hex digits. */
export function hex(glyphId: number): string {
  return glyphId.toString(16).toUpperCase().padStart(4, '0');
}

/** Returns a text as big-endian UTF-16 in hex. */
export function utf16(text: string): string {
  return Buffer.from(text, 'utf16le').swap16().toString('hex').toUpperCase();
}
