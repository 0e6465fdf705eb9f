import type { Tampering } from '../model.ts';
import { makeSealKey, sealPdf } from './seal.ts';

/** Ways to tamper with a sealed document, by family; docs/sandbox.md lists how each one is detected. */
const FAMILIES: Readonly<Record<Tampering, (pdf: Buffer) => Buffer | Promise<Buffer>>> = {
  // Changes to the bytes themselves.
  changedText: (pdf) => flipped(pdf, pdf.indexOf('/Producer') + '/Producer ('.length),
  changedSignature: (pdf) => flippedInCms(pdf, partsOf(pdf).hex.length / 2 - 20),
  changedCertificate: (pdf) => flippedInCms(pdf, 300),
  changedAttributes: (pdf) => flippedInCms(pdf, messageDigestAt(pdf)),
  cutShort: (pdf) => pdf.subarray(0, pdf.length - 100),
  appendedBytes: (pdf) => Buffer.concat([pdf, Buffer.from('\n% Rent: 1\n')]),

  // Incremental saving attacks: a later revision shows something else.
  replacedPage: (pdf) => {
    const { size } = partsOf(pdf);
    const page = objectText(pdf, pageOf(pdf)).replace(/\/Contents (?:\d+ 0 R|\[[^\]]*\])/, '');
    return updated(pdf, { [pageOf(pdf)]: within(page, `/Contents ${size} 0 R`), [size]: RENT });
  },
  addedNote: (pdf) => {
    const note = partsOf(pdf).size;
    const page = within(objectText(pdf, pageOf(pdf)), `/Annots [${note} 0 R]`);
    return updated(pdf, { [pageOf(pdf)]: page, [note]: NOTE });
  },
  addedAppearance: (pdf) => {
    const { size } = partsOf(pdf);
    const field = objectText(pdf, fieldOf(pdf)).replace(/\/Rect \[[^\]]*\]/, '/Rect [0 0 99 99]');
    return updated(pdf, { [fieldOf(pdf)]: within(field, `/AP << /N ${size} 0 R >>`), [size]: RENT });
  },
  newCatalog: (pdf) => catalogWith(pdf, '/OpenAction << /S /JavaScript /JS (x) >>'),
  fakeValidationData: (pdf) => {
    const { size } = partsOf(pdf);
    return catalogWith(pdf, `/DSS << /Certs [${size} 0 R] >>`, { [size]: RENT });
  },
  droppedSignature: (pdf) => {
    const catalog = objectText(pdf, rootOf(pdf)).replace(/\/AcroForm \d+ 0 R/, '');
    return updated(pdf, { [rootOf(pdf)]: catalog });
  },
  emptiedField: (pdf) => {
    const field = objectText(pdf, fieldOf(pdf)).replace(/\/V \d+ 0 R/, '');
    return updated(pdf, { [fieldOf(pdf)]: field });
  },

  // Signature wrapping and universal signature forgery: the signature's dictionary is changed.
  wrappedSignature: (pdf) => {
    // The range covers a second copy of the part after the signature, so that the gap can contain anything.
    const { gapStart, gapEnd, text } = partsOf(pdf);
    const filler = 400;
    const wrapped = rangeOf(pdf, `0 ${gapStart} ${text.length + filler} ${text.length - gapEnd}`);
    return Buffer.concat([wrapped, Buffer.alloc(filler, ' '), wrapped.subarray(gapEnd)]);
  },
  shiftedByteRange: (pdf) => {
    const { gapStart, gapEnd, text } = partsOf(pdf);
    return rangeOf(pdf, `1 ${gapStart - 1} ${gapEnd} ${text.length - gapEnd}`);
  },
  emptyByteRange: (pdf) => rangeOf(pdf, ''),
  noByteRange: (pdf) => swapped(pdf, '/ByteRange [', '/ByteRongs ['),
  repeatedByteRange: (pdf) => {
    const reason = /\/Reason \([^)]*\)/.exec(partsOf(pdf).text)?.[0] ?? '';
    return swapped(pdf, reason, '/ByteRange [0 1 2 3]'.padEnd(reason.length));
  },
  emptyContents: (pdf) => contentsOf(pdf, '<>'),
  zeroContents: (pdf) => contentsOf(pdf, `<${'0'.repeat(gapOf(pdf).length - 2)}>`),
  nullContents: (pdf) => contentsOf(pdf, 'null'),
  trailingBytes: (pdf) => swapped(pdf, gapOf(pdf), `${gapOf(pdf).slice(0, -5)}ff00>`),
  foreignSignature: async (pdf) => {
    const other = await sealed(Buffer.concat([unsealed(pdf), Buffer.from('\n')]));
    const digits = gapOf(other)
      .slice(1, -1)
      .padEnd(gapOf(pdf).length - 2, '0');
    return contentsOf(pdf, `<${digits.slice(0, gapOf(pdf).length - 2)}>`);
  },

  // Changes that no signature can reveal.
  otherSeal: (pdf) => sealed(unsealed(pdf)),
  strippedSeal: (pdf) => unsealed(pdf),
};

/** Returns the document after tampering. A document without a seal is returned unchanged. */
export async function tampered(pdf: Uint8Array, how: Tampering): Promise<Uint8Array> {
  const bytes = Buffer.from(pdf);
  return bytes.includes('/ByteRange') ? FAMILIES[how](bytes) : pdf;
}

const stream = (text: string) => `<< /Length ${text.length} >>\nstream\n${text}\nendstream`;
const RENT = stream('BT /F1 12 Tf (Rent: 1) Tj ET');
const NOTE = '<< /Type /Annot /Subtype /FreeText /Rect [0 0 99 99] /Contents (Rent: 1) >>';

/** The time of the temporary seal. Any time works. */
const AT = '2026-01-01T00:00:00.000Z';

async function sealed(pdf: Buffer): Promise<Buffer> {
  return Buffer.from(await sealPdf(pdf, await makeSealKey(), AT));
}

/** Returns the document before sealing. A seal is an incremental update, so the original ends where the first revision ends. */
function unsealed(pdf: Buffer): Buffer {
  const end = pdf.indexOf('%%EOF');
  return pdf.subarray(0, pdf.indexOf('\n', end) + 1);
}

function rootOf(pdf: Buffer): number {
  return Number.parseInt(partsOf(pdf).root, 10);
}

/** Returns the object number of the first page. */
function pageOf(pdf: Buffer): number {
  return Number(/(\d+) 0 obj\s*<<\s*\/Type \/Page\b/.exec(partsOf(pdf).text)?.[1]);
}

function fieldOf(pdf: Buffer): number {
  return Number(/(\d+) 0 obj\s*<<\s*\/FT \/Sig\b/.exec(partsOf(pdf).text)?.[1]);
}

/** Returns the dictionary with additional entries. */
function within(dictionary: string, more: string): string {
  return `${dictionary.slice(0, dictionary.lastIndexOf('>>'))} ${more} >>`;
}

function catalogWith(pdf: Buffer, more: string, objects: Readonly<Record<number, string>> = {}): Buffer {
  return updated(pdf, { [rootOf(pdf)]: within(objectText(pdf, rootOf(pdf)), more), ...objects });
}

function gapOf(pdf: Buffer): string {
  const { gapStart, gapEnd, text } = partsOf(pdf);
  return text.slice(gapStart, gapEnd);
}

function contentsOf(pdf: Buffer, contents: string): Buffer {
  const gap = gapOf(pdf);
  return swapped(pdf, gap, contents.padEnd(gap.length));
}

function rangeOf(pdf: Buffer, numbers: string): Buffer {
  const range = /\/ByteRange \[[^\]]*\]/.exec(partsOf(pdf).text)?.[0] ?? '';
  return swapped(pdf, range, `/ByteRange [${numbers}]`.padEnd(range.length));
}

/** Returns the position of the content's digest in the signature, which follows the attribute's identifier. */
function messageDigestAt(pdf: Buffer): number {
  const name = Buffer.from('06092a864886f70d010904', 'hex');
  return Buffer.from(partsOf(pdf).hex, 'hex').indexOf(name) + name.length + 6;
}

/** Returns the parts of a sealed PDF. */
export function partsOf(pdf: Buffer) {
  const text = pdf.toString('latin1');
  const range = /\/ByteRange\s*\[\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)/.exec(text);
  const [gapStart, gapEnd] = [Number(range?.[2]), Number(range?.[3])];
  const length = derLength(Buffer.from(text.slice(gapStart + 1, gapStart + 21), 'hex'));
  return {
    text,
    /** The offsets of the `<` of Contents and after its `>`. */
    gapStart,
    gapEnd,
    /** The hex digits without the zeros after the DER. */
    hex: text.slice(gapStart + 1, gapStart + 1 + 2 * length),
    startxref: Number(/startxref\s+(\d+)\s+%%EOF\s*$/.exec(text)?.[1]),
    root: /\/Root\s+(\d+ \d+ R)/.exec(text.slice(text.lastIndexOf('/Root')))?.[1] ?? '',
    size: Math.max(...[...text.matchAll(/\/Size\s+(\d+)/g)].map(([, size]) => Number(size))),
  };
}

/** Returns the length of the DER, including its tag and length. */
function derLength(head: Buffer): number {
  const first = head[1] ?? 0;
  if (first < 0x80) return first + 2;
  return head.readUIntBE(2, first & 0x7f) + 2 + (first & 0x7f);
}

/** Returns the file with a text replaced by another one of the same length. */
export function swapped(pdf: Buffer, from: string, to: string): Buffer {
  const at = pdf.indexOf(from, 0, 'latin1');
  if (at < 0 || from.length !== to.length) throw new Error(`can't swap ${from}`);
  const copy = Buffer.from(pdf);
  copy.write(to, at, 'latin1');
  return copy;
}

/** Returns the file with one bit of one byte flipped. */
export function flipped(pdf: Buffer, at: number): Buffer {
  const copy = Buffer.from(pdf);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

/** Returns the file with a bit of the signature flipped. `at` is a byte offset in the DER; `digit` selects the half of the byte. */
export function flippedInCms(pdf: Buffer, at: number, digit: 0 | 1 = 0): Buffer {
  const { gapStart } = partsOf(pdf);
  const place = gapStart + 1 + 2 * at + digit;
  const turned = Number.parseInt(String.fromCharCode(pdf[place] ?? 48), 16) ^ 1;
  const copy = Buffer.from(pdf);
  copy.write(turned.toString(16), place, 'latin1');
  return copy;
}

/** Appends an incremental update with these objects, as an editor would write it. */
export function updated(pdf: Buffer, objects: Readonly<Record<number, string>>, trailer = ''): Buffer {
  const { root, startxref, size } = partsOf(pdf);
  let text = '\n';
  let entries = '';
  for (const [number, body] of Object.entries(objects)) {
    entries += `${number} 1\n${String(pdf.length + text.length).padStart(10, '0')} 00000 n \n`;
    text += `${number} 0 obj\n${body}\nendobj\n`;
  }
  const at = pdf.length + text.length;
  const newSize = Math.max(size, ...Object.keys(objects).map((number) => Number(number) + 1));
  text += `xref\n${entries}trailer\n<< /Size ${newSize} /Root ${root} /Prev ${startxref} ${trailer} >>\n`;
  return Buffer.concat([pdf, Buffer.from(`${text}startxref\n${at}\n%%EOF\n`, 'latin1')]);
}

/** Returns the last version of an object. */
export function objectText(pdf: Buffer, number: number): string {
  const text = pdf.toString('latin1');
  const versions = text.matchAll(new RegExp(`(?<=\\n)${number} 0 obj\\s([\\s\\S]*?)endobj`, 'g'));
  const found = [...versions].at(-1)?.[1];
  if (found === undefined) throw new Error(`The pdf has no object ${number} outside an object stream.`);
  return found.trim();
}
