import type { Tampering } from '../../model.ts';
import { sealPaper } from '../seal.ts';
import { makeSealKey } from '../seal-key.ts';
import { flipped, flippedInCms, objectText, partsOf, swapped, updated } from './bytes.ts';

/** What somebody may do to a sealed paper, family by family; docs/sandbox.md says what is to be found of each. */
const FAMILIES: Readonly<Record<Tampering, (paper: Buffer) => Buffer | Promise<Buffer>>> = {
  // The bytes themselves.
  changedText: (paper) => flipped(paper, paper.indexOf('/Producer') + '/Producer ('.length),
  changedSignature: (paper) => flippedInCms(paper, partsOf(paper).hex.length / 2 - 20),
  changedCertificate: (paper) => flippedInCms(paper, 300),
  changedAttributes: (paper) => flippedInCms(paper, messageDigestAt(paper)),
  cutShort: (paper) => paper.subarray(0, paper.length - 100),
  appendedBytes: (paper) => Buffer.concat([paper, Buffer.from('\n% Rent: 1\n')]),

  // Incremental saving: a later revision shows something else.
  replacedPage: (paper) => {
    const { size } = partsOf(paper);
    const page = objectText(paper, pageOf(paper)).replace(/\/Contents (?:\d+ 0 R|\[[^\]]*\])/, '');
    return updated(paper, { [pageOf(paper)]: within(page, `/Contents ${size} 0 R`), [size]: RENT });
  },
  addedNote: (paper) => {
    const note = partsOf(paper).size;
    const page = within(objectText(paper, pageOf(paper)), `/Annots [${note} 0 R]`);
    return updated(paper, { [pageOf(paper)]: page, [note]: NOTE });
  },
  addedAppearance: (paper) => {
    const { size } = partsOf(paper);
    const field = objectText(paper, fieldOf(paper)).replace(/\/Rect \[[^\]]*\]/, '/Rect [0 0 99 99]');
    return updated(paper, { [fieldOf(paper)]: within(field, `/AP << /N ${size} 0 R >>`), [size]: RENT });
  },
  newCatalog: (paper) => catalogWith(paper, '/OpenAction << /S /JavaScript /JS (x) >>'),
  fakeValidationData: (paper) => {
    const { size } = partsOf(paper);
    return catalogWith(paper, `/DSS << /Certs [${size} 0 R] >>`, { [size]: RENT });
  },
  droppedSignature: (paper) => {
    const catalog = objectText(paper, rootOf(paper)).replace(/\/AcroForm \d+ 0 R/, '');
    return updated(paper, { [rootOf(paper)]: catalog });
  },
  emptiedField: (paper) => {
    const field = objectText(paper, fieldOf(paper)).replace(/\/V \d+ 0 R/, '');
    return updated(paper, { [fieldOf(paper)]: field });
  },

  // Wrapping and universal forgery: the dictionary of the signature says something else.
  wrappedSignature: (paper) => {
    // The part behind the signature is covered where it stands a second time; the gap has room for anything.
    const { gapStart, gapEnd, text } = partsOf(paper);
    const filler = 400;
    const wrapped = rangeOf(paper, `0 ${gapStart} ${text.length + filler} ${text.length - gapEnd}`);
    return Buffer.concat([wrapped, Buffer.alloc(filler, ' '), wrapped.subarray(gapEnd)]);
  },
  shiftedByteRange: (paper) => {
    const { gapStart, gapEnd, text } = partsOf(paper);
    return rangeOf(paper, `1 ${gapStart - 1} ${gapEnd} ${text.length - gapEnd}`);
  },
  emptyByteRange: (paper) => rangeOf(paper, ''),
  noByteRange: (paper) => swapped(paper, '/ByteRange [', '/ByteRongs ['),
  repeatedByteRange: (paper) => {
    const reason = /\/Reason \([^)]*\)/.exec(partsOf(paper).text)?.[0] ?? '';
    return swapped(paper, reason, '/ByteRange [0 1 2 3]'.padEnd(reason.length));
  },
  emptyContents: (paper) => contentsOf(paper, '<>'),
  zeroContents: (paper) => contentsOf(paper, `<${'0'.repeat(gapOf(paper).length - 2)}>`),
  nullContents: (paper) => contentsOf(paper, 'null'),
  trailingBytes: (paper) => swapped(paper, gapOf(paper), `${gapOf(paper).slice(0, -5)}ff00>`),
  foreignSignature: async (paper) => {
    const other = await sealed(Buffer.concat([unsealed(paper), Buffer.from('\n')]));
    const digits = gapOf(other)
      .slice(1, -1)
      .padEnd(gapOf(paper).length - 2, '0');
    return contentsOf(paper, `<${digits.slice(0, gapOf(paper).length - 2)}>`);
  },

  // What no signature can tell by itself.
  otherSeal: (paper) => sealed(unsealed(paper)),
  strippedSeal: (paper) => unsealed(paper),
};

/** The paper after somebody was at it. One without a seal stays as it is. */
export async function tampered(paper: Uint8Array, how: Tampering): Promise<Uint8Array> {
  const bytes = Buffer.from(paper);
  return bytes.includes('/ByteRange') ? FAMILIES[how](bytes) : paper;
}

const stream = (text: string) => `<< /Length ${text.length} >>\nstream\n${text}\nendstream`;
const RENT = stream('BT /F1 12 Tf (Rent: 1) Tj ET');
const NOTE = '<< /Type /Annot /Subtype /FreeText /Rect [0 0 99 99] /Contents (Rent: 1) >>';

/** When the throwaway seal is made; nothing hangs on it. */
const AT = '2026-01-01T00:00:00.000Z';

async function sealed(paper: Buffer): Promise<Buffer> {
  return Buffer.from(await sealPaper(paper, await makeSealKey(), AT));
}

/** A seal is an update of the paper: what it was before ends where the first revision does. */
function unsealed(paper: Buffer): Buffer {
  const end = paper.indexOf('%%EOF');
  return paper.subarray(0, paper.indexOf('\n', end) + 1);
}

function rootOf(paper: Buffer): number {
  return Number.parseInt(partsOf(paper).root, 10);
}

/** The first page. */
function pageOf(paper: Buffer): number {
  return Number(/(\d+) 0 obj\s*<<\s*\/Type \/Page\b/.exec(partsOf(paper).text)?.[1]);
}

function fieldOf(paper: Buffer): number {
  return Number(/(\d+) 0 obj\s*<<\s*\/FT \/Sig\b/.exec(partsOf(paper).text)?.[1]);
}

/** The dictionary with more in it. */
function within(dictionary: string, more: string): string {
  return `${dictionary.slice(0, dictionary.lastIndexOf('>>'))} ${more} >>`;
}

function catalogWith(paper: Buffer, more: string, objects: Readonly<Record<number, string>> = {}): Buffer {
  return updated(paper, { [rootOf(paper)]: within(objectText(paper, rootOf(paper)), more), ...objects });
}

function gapOf(paper: Buffer): string {
  const { gapStart, gapEnd, text } = partsOf(paper);
  return text.slice(gapStart, gapEnd);
}

function contentsOf(paper: Buffer, contents: string): Buffer {
  const gap = gapOf(paper);
  return swapped(paper, gap, contents.padEnd(gap.length));
}

function rangeOf(paper: Buffer, numbers: string): Buffer {
  const range = /\/ByteRange \[[^\]]*\]/.exec(partsOf(paper).text)?.[0] ?? '';
  return swapped(paper, range, `/ByteRange [${numbers}]`.padEnd(range.length));
}

/** Where the digest of the content stands in the signature: behind the name of that attribute. */
function messageDigestAt(paper: Buffer): number {
  const name = Buffer.from('06092a864886f70d010904', 'hex');
  return Buffer.from(partsOf(paper).hex, 'hex').indexOf(name) + name.length + 6;
}
