import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkSeal, type Seal } from '../../../src/documents/seal/seal.ts';
import { createPaper } from '../../../src/sandbox/papers/pdf/paper.ts';
import { sealPaper } from '../../../src/sandbox/papers/seal.ts';
import { type SealKey, sealKeyOf } from '../../../src/sandbox/papers/seal-key.ts';
import { flipped, flippedInCms, partsOf, swapped, updated } from './tampering.ts';

const AT = '2026-03-01T10:20:30.000Z';
let folder: string;
let key: SealKey;
let paper: Uint8Array;
let sealed: Buffer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-seal-'));
  key = await sealKeyOf(folder);
  paper = await paperOf('Lease');
  sealed = Buffer.from(await sealPaper(paper, key, AT));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function paperOf(title: string): Promise<Uint8Array> {
  const blank = createPaper();
  blank.addSheet();
  return blank.save({ title, subject: 'x', keywords: [], at: AT });
}

async function sealOf(pdf: Uint8Array): Promise<Seal> {
  const path = join(folder, 'checked.pdf');
  await writeFile(path, pdf);
  return (await checkSeal(path)).seal;
}

/** A seal that may be believed. */
const isBelieved = ({ state, coverage }: Seal) => state === 'intact' && coverage === 'whole';

describe('the seal of a paper', () => {
  it('is intact and whole, and names who sealed it and when', async () => {
    const seal = await sealOf(sealed);
    expect(seal).toMatchObject({
      state: 'intact',
      coverage: 'whole',
      addedBytes: null,
      time: AT,
      level: 'B-B',
    });
    expect(seal.subject).toContain('not for production');
    expect(seal.fingerprint).toMatch(/^[0-9a-f]{64}$/);
  });

  it('is absent from a paper that nobody sealed', async () => {
    expect(await sealOf(paper)).toMatchObject({ state: 'unsigned', coverage: null, subject: null });
  });
});

/** Somebody's own version of a sealed paper, by family; each is named, none is believed. */
type Tampering = () => Buffer | Promise<Buffer>;
const catalog = (more = '') => `<< /Type /Catalog /Pages 1 0 R /Lang (en) /AcroForm 6 0 R ${more} >>`;
const stream = (text: string) => `<< /Length ${text.length} >>\nstream\n${text}\nendstream`;
const gap = () => {
  const { gapStart, gapEnd } = partsOf(sealed);
  return sealed.toString('latin1', gapStart, gapEnd);
};
const range = () => /\/ByteRange \[[^\]]*\]/.exec(sealed.toString('latin1'))?.[0] ?? '';
const rangeOf = (text: string) => swapped(sealed, range(), `/ByteRange [${text}]`.padEnd(range().length));

const TAMPERED: Record<string, [Tampering, Partial<Seal>]> = {
  'a bit of the text': [() => flipped(sealed, sealed.indexOf('(Lease)') + 2), { state: 'changed' }],
  'the text behind the signature': [
    () => swapped(sealed, '/T (EsignSeal)', '/T (EsignXxxx)'),
    { state: 'changed' },
  ],
  'the signature itself': [
    () => flippedInCms(sealed, partsOf(sealed).hex.length / 2 - 20),
    { state: 'changed' },
  ],
  'the certificate': [() => flippedInCms(sealed, 300), { state: 'changed' }],
  'bytes behind the end': [
    () => Buffer.concat([sealed, Buffer.from('hello')]),
    { coverage: 'extended', addedBytes: 5 },
  ],
  'a page replaced by an update': [
    () => updated(sealed, { 4: '<< /Type /Page /MediaBox [0 0 9 9] /Parent 1 0 R >>' }),
    { state: 'intact', coverage: 'extended' },
  ],
  'a note put on the page': [
    () =>
      updated(sealed, {
        4: '<< /Type /Page /MediaBox [0 0 595.28 841.89] /Resources << >> /Parent 1 0 R /Annots [8 0 R] >>',
        8: '<< /Type /Annot /Subtype /FreeText /Rect [0 0 99 99] /Contents (Rent: 1) >>',
      }),
    { coverage: 'extended' },
  ],
  'a new catalog': [
    () => updated(sealed, { 2: catalog('/OpenAction << /S /JavaScript /JS (x) >>') }),
    { coverage: 'extended' },
  ],
  'a value in the form': [
    () =>
      updated(sealed, {
        7: '<< /FT /Sig /T (EsignSeal) /V 5 0 R /Rect [0 0 99 99] /AP << /N 8 0 R >> >>',
        8: stream('x'),
      }),
    { coverage: 'extended' },
  ],
  'a page hidden in a store of validation data': [
    () => updated(sealed, { 2: catalog('/DSS << /Certs [8 0 R] >>'), 8: stream('BT (Rent: 1) Tj ET') }),
    { coverage: 'extended' },
  ],
  'objects nobody asked for beside validation data': [
    () => updated(sealed, { 2: catalog('/DSS << >>'), 9: stream('0 0 m') }),
    { coverage: 'extended' },
  ],
  'an object freed': [
    () => {
      const pdf = updated(sealed, { 2: catalog('/DSS << >>') }).toString('latin1');
      return Buffer.from(
        pdf.replace(
          /xref\n2 1\n\d{10} 00000 n \n(?=trailer[\s\S]*$)/,
          (entry) => `${entry}4 1\n0000000000 00001 f \n`,
        ),
        'latin1',
      );
    },
    { coverage: 'extended' },
  ],
  'the signature dropped by an update': [
    () => updated(sealed, { 2: '<< /Type /Catalog /Pages 1 0 R /Lang (en) >>' }),
    { state: 'intact', coverage: 'extended' },
  ],
  'the field emptied by an update': [
    () => updated(sealed, { 7: '<< /FT /Sig /T (EsignSeal) /Rect [0 0 0 0] >>' }),
    { state: 'intact', coverage: 'extended' },
  ],
  'the signature hidden from the form': [
    () => swapped(sealed, '/AcroForm 6 0 R', '/AcroFarm 6 0 R'),
    { state: 'unreadable' },
  ],
  'no ByteRange': [() => swapped(sealed, '/ByteRange', '/ByteRongs'), { state: 'unreadable' }],
  'an empty ByteRange': [() => rangeOf(''), { state: 'unreadable' }],
  'a ByteRange of nulls': [() => rangeOf('null null null null'), { state: 'unreadable' }],
  'a ByteRange that does not begin at 0': [() => rangeOf('1 887 25466 686'), { state: 'unreadable' }],
  'a ByteRange with a larger gap': [
    () => {
      const { gapStart, gapEnd } = partsOf(sealed);
      return rangeOf(`0 ${gapStart - 1} ${gapEnd} ${sealed.length - gapEnd}`);
    },
    { state: 'changed', coverage: 'partial' },
  ],
  'a ByteRange beyond the file': [
    () => rangeOf(`0 ${partsOf(sealed).gapStart} ${partsOf(sealed).gapEnd} 99999999`),
    { state: 'changed', coverage: 'partial' },
  ],
  'a ByteRange without a gap': [
    () => rangeOf(`0 ${sealed.length} ${sealed.length} 0`),
    { state: 'changed', coverage: 'partial' },
  ],
  'Contents that are empty': [
    () => swapped(sealed, gap(), '<>'.padEnd(gap().length)),
    { state: 'unreadable' },
  ],
  'Contents that are zero': [
    () => swapped(sealed, gap(), `<${'0'.repeat(gap().length - 2)}>`),
    { state: 'unreadable' },
  ],
  'Contents that are null': [
    () => swapped(sealed, gap(), 'null'.padEnd(gap().length)),
    { state: 'unreadable' },
  ],
  'something behind the DER': [
    () => swapped(sealed, gap(), `${gap().slice(0, -5)}ff00>`),
    { state: 'unreadable' },
  ],
  'a second ByteRange in the dictionary': [
    () =>
      swapped(sealed, '/Reason (Sealed when the last signer had signed)', `/ByteRange [0 1 2 3]`.padEnd(48)),
    { state: 'unreadable' },
  ],
  'a signature of another paper': [
    async () => {
      const other = Buffer.from(await sealPaper(await paperOf('Other'), key, AT));
      const { gapStart, gapEnd } = partsOf(other);
      return swapped(sealed, gap(), other.toString('latin1', gapStart, gapEnd));
    },
    { state: 'changed' },
  ],
  'the signature wrapped around another file': [
    () => {
      // The old file stands whole in the gap's second half; what is shown is new (signature wrapping).
      const { gapStart, gapEnd } = partsOf(sealed);
      const moved = sealed.length + 400;
      const before = rangeOf(`0 ${gapStart} ${moved} ${sealed.length - gapEnd}`);
      const cover = Buffer.concat([before, Buffer.from(' '.repeat(400)), before.subarray(gapEnd)]);
      return cover;
    },
    {},
  ],
  'a kind of signature that is not known': [
    () => swapped(sealed, '/ETSI.CAdES.detached', '/adbe.x509.rsa_sha1 '),
    { state: 'unreadable' },
  ],
};

describe('tampering', () => {
  it.each(Object.entries(TAMPERED))('%s is named and not believed', async (_, [make, expected]) => {
    const pdf = await make();
    expect(pdf.equals(sealed)).toBe(false);
    const seal = await sealOf(pdf);
    expect(seal).toMatchObject(expected);
    expect(isBelieved(seal)).toBe(false);
    expect(seal.state).not.toBe('unsigned');
  });

  it('of any byte outside the signature is seen', async () => {
    const { gapStart, gapEnd } = partsOf(sealed);
    const outside = fc.integer({ min: 0, max: sealed.length - (gapEnd - gapStart) - 1 });
    await fc.assert(
      fc.asyncProperty(outside, async (place) => {
        const at = place < gapStart ? place : place + gapEnd - gapStart;
        const { state } = await sealOf(flipped(sealed, at));
        expect(['changed', 'unreadable']).toContain(state);
      }),
      { numRuns: 100 },
    );
  });

  it('of any byte of the signature is seen', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: partsOf(sealed).hex.length / 2 - 1 }), async (at) => {
        expect(isBelieved(await sealOf(flippedInCms(sealed, at)))).toBe(false);
      }),
      { numRuns: 150 },
    );
  });

  it('by cutting the file anywhere is seen', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: sealed.length - 1 }), async (length) => {
        const seal = await sealOf(sealed.subarray(0, length));
        expect(isBelieved(seal)).toBe(false);
      }),
      { numRuns: 100 },
    );
  });
});
