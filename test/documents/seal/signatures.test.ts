import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkSeal } from '../../../src/documents/seal/check-seal.ts';
import { PdfBytes } from '../../../src/documents/seal/pdf-bytes.ts';
import { PdfFile } from '../../../src/documents/seal/pdf-file.ts';
import { catalogOf, type Signature, signaturesOf } from '../../../src/documents/seal/signatures.ts';
import { DOCUMENT, documentOf, type Objects, update } from './forging/writer.ts';

let path: string;
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'esign-signatures-'));
  path = join(folder, 'a.pdf');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const CONTENTS = '<3003020101>';
const RANGE = '[0 1111111111 2222222222 3333333333]';
/** A signature dictionary, whose range `withRanges` fills in. */
const dict = (more = '', kind = 'ETSI.CAdES.detached') =>
  `<< /Type /Sig /SubFilter /${kind} /ByteRange ${RANGE} /Contents ${CONTENTS} ${more} >>`;
const field = (value: string, more = '') => `<< /FT /Sig /T (S) /V ${value} ${more} >>`;
const withForm = (fields: string): Objects => ({
  ...DOCUMENT,
  1: `<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [${fields}] >> >>`,
});

/** Fills in each range: everything except the Contents after it, up to the end of the file. */
function withRanges(pdf: Buffer, shift: Partial<Record<'gapStart' | 'gapEnd' | 'end', number>> = {}): Buffer {
  let text = pdf.toString('latin1');
  for (let at = text.indexOf(RANGE); at >= 0; at = text.indexOf(RANGE)) {
    const gapStart = text.indexOf(CONTENTS, at) + (shift.gapStart ?? 0);
    const gapEnd = text.indexOf(CONTENTS, at) + CONTENTS.length + (shift.gapEnd ?? 0);
    const range = `[0 ${gapStart} ${gapEnd} ${pdf.length + (shift.end ?? 0) - gapEnd}]`;
    text = `${text.slice(0, at)}${range.padEnd(RANGE.length)}${text.slice(at + RANGE.length)}`;
  }
  return Buffer.from(text, 'latin1');
}

/** A file with one signature. */
const one = (more = '', shift = {}) =>
  withRanges(documentOf({ ...withForm('6 0 R'), 6: field('7 0 R'), 7: dict(more) }), shift);

function open<T>(pdf: Buffer, read: (file: PdfFile) => T): T {
  writeFileSync(path, pdf);
  const bytes = PdfBytes.open(path);
  try {
    return read(new PdfFile(bytes));
  } finally {
    bytes.close();
  }
}
const signaturesIn = (pdf: Buffer): Signature[] => open(pdf, signaturesOf);
const numbersIn = (pdf: Buffer) => signaturesIn(pdf).map(({ object }) => object);
async function reasonOf(pdf: Buffer): Promise<string> {
  writeFileSync(path, pdf);
  const { seal, isSigned } = await checkSeal(path);
  return `${isSigned ? 'signed' : 'not signed'}: ${seal.reason ?? seal.state}`;
}

describe('the signatures of a file', () => {
  it('are described by their dictionaries', () => {
    const pdf = one();
    const at = pdf.indexOf(CONTENTS);
    expect(signaturesIn(pdf)).toEqual([
      {
        object: 7,
        subFilter: 'ETSI.CAdES.detached',
        contents: Buffer.from('3003020101', 'hex'),
        range: { gapStart: at, gapEnd: at + CONTENTS.length, end: pdf.length },
        problem: undefined,
        claimedTime: undefined,
      },
    ]);
  });

  it.each<[string, Objects]>([
    ['without a form', DOCUMENT],
    ['with a form that is not a dictionary', { ...DOCUMENT, 1: '<< /Type /Catalog /AcroForm [6 0 R] >>' }],
    ['with fields that are not a list', { ...DOCUMENT, 1: '<< /Type /Catalog /AcroForm << /Fields 6 >> >>' }],
    ['with a field that is not a dictionary', { ...withForm('6 0 R'), 6: '[ ]' }],
    ['with an empty signature field', { ...withForm('6 0 R'), 6: '<< /FT /Sig >>' }],
    ['with a text field', { ...withForm('6 0 R'), 6: '<< /FT /Tx /V 7 0 R >>', 7: dict() }],
    ['with a field that refers to nothing', { ...withForm('6 0 R'), 6: field('9 0 R') }],
  ])('are absent %s', (_, objects) => {
    expect(numbersIn(documentOf(objects))).toEqual([]);
  });

  it('are found in children, which inherit the type', () => {
    const objects = {
      ...withForm('6 0 R 8 0 R'),
      6: '<< /FT /Sig /Kids [9 0 R 10 0 R] >>',
      7: dict(),
      8: '<< /Kids [11 0 R] >>',
      9: '<< /T (a) /V 7 0 R >>',
      10: '<< /T (b) /FT /Tx /V 7 0 R >>',
      11: field('12 0 R'),
      12: dict('', 'adbe.pkcs7.detached'),
    };
    expect(numbersIn(withRanges(documentOf(objects))).sort((a, b) => a - b)).toEqual([7, 12]);
  });

  it('are ordered by their ends, and found once, also if a later revision drops them', () => {
    const first = one();
    const objects = {
      1: withForm('8 0 R')[1] ?? '',
      8: field('9 0 R'),
      9: dict(),
    };
    const second = withRanges(update(first, objects));
    expect(numbersIn(second)).toEqual([7, 9]);
    const both = withRanges(update(first, { ...objects, 1: withForm('8 0 R 6 0 R')[1] ?? '' }));
    expect(numbersIn(both)).toEqual([7, 9]);
    expect(numbersIn(withRanges(update(first, { 7: dict() })))).toEqual([7, 7]);
  });

  it.each<[string, Objects]>([
    ['inside its field', { ...withForm('6 0 R'), 6: field(dict()) }],
    ['that is not a dictionary', { ...withForm('6 0 R'), 6: field('7 0 R'), 7: '(text)' }],
  ])('are unreadable with one %s', async (_, objects) => {
    expect(await reasonOf(withRanges(documentOf(objects)))).toMatch(/^signed: .*direct object/);
  });

  it('come first without a valid range', () => {
    const objects = { ...withForm('6 0 R 8 0 R'), 6: field('7 0 R'), 7: dict(), 8: field('9 0 R') };
    const invalid = dict().replace(RANGE, '[0 1 2]');
    expect(numbersIn(withRanges(documentOf({ ...objects, 9: invalid })))).toEqual([9, 7]);
    expect(numbersIn(withRanges(documentOf({ ...objects, 7: invalid, 9: dict() })))).toEqual([7, 9]);
  });

  it('need a catalog', () => {
    expect(() => open(documentOf({ ...DOCUMENT, 1: '[ ]' }), (file) => catalogOf(file, 0))).toThrow(
      'catalog',
    );
  });
});

describe('the time in a signature dictionary', () => {
  it.each<[string, string | undefined]>([
    ['D:20260301102030Z', '2026-03-01T10:20:30.000Z'],
    ["D:20260301102030Z00'00'", '2026-03-01T10:20:30.000Z'],
    ['D:20260301102030', '2026-03-01T10:20:30.000Z'],
    ["D:20260301102030+01'30'", '2026-03-01T08:50:30.000Z'],
    ["D:20260301102030-05'00", '2026-03-01T15:20:30.000Z'],
    ['D:20260301102030+0130', '2026-03-01T08:50:30.000Z'],
    ["D:20260301102030+01'", '2026-03-01T09:20:30.000Z'],
    ['D:20260301102030+01', '2026-03-01T09:20:30.000Z'],
    ['D:20261301102030Z', undefined],
    ['D:202603011020', undefined],
    ['20260301102030Z', undefined],
    ['x D:20260301102030Z', undefined],
    ['D:20260301102030+01 x', undefined],
    ['D:20260301102030+1', undefined],
    ['yesterday', undefined],
  ])('%s is read as %s', (text, expected) => {
    expect(signaturesIn(one(`/M (${text})`))[0]?.claimedTime).toBe(expected);
  });

  it('is unknown if it is not text', () => {
    expect(signaturesIn(one('/M 2026'))[0]?.claimedTime).toBeUndefined();
  });
});

describe('the range of a signature', () => {
  it.each<[string, object, string | undefined]>([
    ['that leaves out its Contents', {}, undefined],
    ['that ends before the file', { end: -1 }, undefined],
    ['that starts its gap too early', { gapStart: -1 }, 'more than its Contents'],
    ['that ends its gap too late', { gapEnd: 1 }, 'more than its Contents'],
    ['that is longer than the file', { end: 1 }, 'beyond the file'],
  ])('%s has the problem %j', (_, shift, expected) => {
    const problem = signaturesIn(one('', shift))[0]?.problem;
    if (expected === undefined) expect(problem).toBeUndefined();
    else expect(problem).toContain(expected);
  });

  const withRange = (range: string) => {
    const text = one()
      .toString('latin1')
      .replace(/(?<=\/ByteRange )\[[^\]]*\]\s*/, (known) => range.padEnd(known.length));
    return signaturesIn(Buffer.from(text, 'latin1'))[0];
  };
  it.each([
    '[0 9 20]',
    '[0 9 20 5 5]',
    '[1 9 20 5]',
    '[0 -9 20 5]',
    '[0 9 2.5 5]',
    '[0 9 20 (5)]',
    '[/A 9 20 5]',
    '9',
  ])('is invalid if it is %s', (range) => {
    expect(withRange(range)).toMatchObject({ range: undefined, problem: expect.any(String) as unknown });
  });
  it('may end where its gap ends', () => {
    const pdf = one();
    const at = pdf.indexOf(CONTENTS);
    expect(withRange(`[0 ${at} ${at + CONTENTS.length} 0]`)?.problem).toBeUndefined();
  });
});

describe('the Contents of a signature', () => {
  const withContents = (contents: string) =>
    Buffer.from(one().toString('latin1').replace(CONTENTS, contents.padEnd(CONTENTS.length)), 'latin1');

  it.each(['<>', '(3003020101)', '7', 'null'])('must be hexadecimal, not %s', (contents) => {
    expect(signaturesIn(withContents(contents))[0]?.problem).toContain('Contents');
  });

  it.each<[string, Buffer]>([
    ['are missing', withContents('<>')],
    ['are not text', withContents('7')],
    ['are not a signature', withContents('<0000000000>')],
    ['appear twice', one('/Contents <00>')],
    [
      'are of no kind',
      withRanges(Buffer.from(one().toString('latin1').replace('/SubFilter', '/SubFolder'), 'latin1')),
    ],
    [
      'are of an unknown kind',
      Buffer.from(one().toString('latin1').replace('ETSI.CAdES', 'ETSX.CAdES'), 'latin1'),
    ],
  ])('make a seal unreadable if they %s', async (_, pdf) => {
    writeFileSync(path, pdf);
    expect(await checkSeal(path)).toMatchObject({
      isSigned: true,
      signer: null,
      seal: { state: 'unreadable', coverage: null, fingerprint: null },
    });
  });

  it('are named as the problem if they are missing', async () => {
    expect(await reasonOf(withContents('<>'))).toMatch(/^signed: .*no Contents/);
  });

  it('are named by their kind if it is not supported', async () => {
    const unknown = one().toString('latin1').replace('ETSI.CAdES.detached', 'adbe.x509.rsa_sha1 ');
    expect(await reasonOf(Buffer.from(unknown, 'latin1'))).toContain('adbe.x509.rsa_sha1');
    const none = one().toString('latin1').replace('/SubFilter', '/SubFolder');
    expect(await reasonOf(Buffer.from(none, 'latin1'))).toContain('(none)');
  });
});

describe('a file with many signatures', () => {
  const many = (count: number) => {
    const objects: Record<number, string> = {};
    for (let n = 0; n < count; n++)
      Object.assign(objects, { [10 + n]: field(`${100 + n} 0 R`), [100 + n]: dict() });
    return withRanges(
      documentOf({
        ...withForm(Array.from({ length: count }, (_, n) => `${10 + n} 0 R`).join(' ')),
        ...objects,
      }),
    );
  };
  it('is checked up to fifty', async () => {
    expect(await reasonOf(many(50))).not.toContain('too many');
    expect(await reasonOf(many(51))).toMatch(/^signed: .*too many/);
  });
});

describe('a file whose form has no signature', () => {
  const BLOCK = 256 * 1024;
  const stream = (data: string) => `<< /Length ${data.length} >>\nstream\n${data}\nendstream`;
  /** A file that is too large to be read as a whole, with the text at an offset. */
  const withTextAt = (text: string, at: number) => {
    const make = (before: number) =>
      documentOf({ ...DOCUMENT, 9: stream(`${' '.repeat(before)}${text}`.padEnd(3 * BLOCK)) });
    return make(at - make(0).indexOf(text));
  };

  it('is unsigned if it is not a PDF', async () => {
    expect(await reasonOf(Buffer.from('text with /ByteRange'))).toMatch(/^not signed: .*not a PDF/);
  });

  it('is unsigned', async () => {
    expect(await reasonOf(documentOf())).toBe('not signed: unsigned');
    expect(await reasonOf(withTextAt('/ByteRang', BLOCK - 3))).toBe('not signed: unsigned');
  });

  it.each([1_000, BLOCK - 10, BLOCK - 9, BLOCK - 5, BLOCK - 1, BLOCK, 2 * BLOCK - 1])(
    'is unreadable if a removed signature is at byte %i',
    async (at) => {
      const pdf = withTextAt('/ByteRange', at);
      expect(pdf.indexOf('/ByteRange')).toBe(at);
      expect(await reasonOf(pdf)).toMatch(/^signed: .*not part of its form/);
    },
  );
});
