import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkSeal, type Seal } from '../../../src/documents/seal/check-seal.ts';
import { verifySeal } from '../../../src/documents/seal/judge.ts';
import { createPdf } from '../../../src/sandbox/documents/pdf/pdf.ts';
import { type SealKey, sealKeyOf, sealPdf } from '../../../src/sandbox/documents/seal.ts';
import {
  flipped,
  flippedInCms,
  partsOf,
  swapped,
  tampered,
  updated,
} from '../../../src/sandbox/documents/tampering.ts';
import { TAMPERINGS, type Tampering } from '../../../src/sandbox/model.ts';

const AT = '2026-03-01T10:20:30.000Z';
let folder: string;
let key: SealKey;
let unsigned: Uint8Array;
let sealed: Buffer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-seal-'));
  key = await sealKeyOf(folder);
  unsigned = await documentOf('Lease');
  sealed = Buffer.from(await sealPdf(unsigned, key, AT));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function documentOf(title: string): Promise<Uint8Array> {
  const blank = createPdf();
  blank.addSheet();
  return blank.save({ title, subject: 'x', keywords: [], at: AT });
}

async function sealOf(pdf: Uint8Array): Promise<Seal> {
  const path = join(folder, 'checked.pdf');
  await writeFile(path, pdf);
  return (await checkSeal(path)).seal;
}

/** A seal that can be trusted. */
const isBelieved = ({ state, coverage }: Seal) => state === 'intact' && coverage === 'whole';

describe('the seal of a document', () => {
  it('is intact and whole, and names the signer and the time', async () => {
    const seal = await sealOf(sealed);
    expect(seal).toMatchObject({
      state: 'intact',
      coverage: 'whole',
      addedBytes: null,
      time: AT,
      level: 'B-B',
    });
    expect(seal.subject).toContain('test only');
    expect(seal.subject).not.toContain('\n');
    expect(seal.reason).toBe(null);
    expect(seal.fingerprint).toMatch(/^[0-9a-f]{64}$/);
  });

  it('cannot be checked without a file', async () => {
    await expect(checkSeal(join(folder, 'missing.pdf'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('shows that the document was signed, and why it is not intact', async () => {
    const path = join(folder, 'signed.pdf');
    await writeFile(path, sealed);
    expect((await checkSeal(path)).isSigned).toBe(true);
    await writeFile(path, await variant('changedText'));
    const changed = await checkSeal(path);
    expect([changed.isSigned, changed.seal.reason]).toEqual([true, expect.stringContaining('changed')]);
    await writeFile(path, await variant('repeatedByteRange'));
    expect((await checkSeal(path)).seal.reason).toContain('ByteRange more than once');
  });

  it('is absent from an unsealed document', async () => {
    expect(await sealOf(unsigned)).toMatchObject({ state: 'unsigned', coverage: null, subject: null });
  });
});

/** The expected result for each family of tampering in the sandbox. */
const FAMILIES: Record<Tampering, Partial<Seal>> = {
  changedText: { state: 'changed' },
  changedSignature: { state: 'changed' },
  changedCertificate: { state: 'changed' },
  changedAttributes: { state: 'changed' },
  cutShort: { state: 'unreadable' },
  appendedBytes: { state: 'intact', coverage: 'extended', addedBytes: 11 },
  replacedPage: { state: 'intact', coverage: 'extended' },
  addedNote: { state: 'intact', coverage: 'extended' },
  addedAppearance: { state: 'intact', coverage: 'extended' },
  newCatalog: { state: 'intact', coverage: 'extended' },
  fakeValidationData: { state: 'intact', coverage: 'extended' },
  droppedSignature: { state: 'intact', coverage: 'extended' },
  emptiedField: { state: 'intact', coverage: 'extended' },
  wrappedSignature: { state: 'changed', coverage: 'partial' },
  shiftedByteRange: { state: 'unreadable' },
  emptyByteRange: { state: 'unreadable' },
  noByteRange: { state: 'unreadable' },
  repeatedByteRange: { state: 'unreadable' },
  emptyContents: { state: 'unreadable' },
  zeroContents: { state: 'unreadable' },
  nullContents: { state: 'unreadable' },
  trailingBytes: { state: 'unreadable' },
  foreignSignature: { state: 'changed' },
  // No signature reveals these by itself: another certificate, and no signature at all.
  otherSeal: { state: 'intact', coverage: 'whole' },
  strippedSeal: { state: 'unsigned' },
};
const DETECTED_BY_THE_SEAL = TAMPERINGS.filter((how) => how !== 'otherSeal' && how !== 'strippedSeal');

/** Each variant is made once: most need a new signature. */
const variants = new Map<string, Promise<Uint8Array>>();
function variant(how: Tampering): Promise<Uint8Array> {
  const made = variants.get(how) ?? tampered(sealed, how);
  variants.set(how, made);
  return made;
}

describe('a document that the sandbox has tampered with', () => {
  it.each(TAMPERINGS)('is reported: %s', async (how) => {
    const pdf = Buffer.from(await variant(how));
    expect(pdf.equals(sealed)).toBe(false);
    expect(await sealOf(pdf)).toMatchObject(FAMILIES[how]);
  });

  it.each(DETECTED_BY_THE_SEAL)(
    'is never intact and whole, and never treated as unsigned: %s',
    async (how) => {
      await writeFile(join(folder, 'judged.pdf'), await variant(how));
      const checked = await checkSeal(join(folder, 'judged.pdf'));
      expect([isBelieved(checked.seal), checked.seal.state === 'unsigned']).toEqual([false, false]);
      expect(verifySeal(checked, { authorities: [], pinned: [] }).problem).not.toBe(null);
    },
  );

  it('has another signer if it was sealed again', async () => {
    const [own, other] = [await sealOf(sealed), await sealOf(await tampered(sealed, 'otherSeal'))];
    expect(other.fingerprint).not.toBe(own.fingerprint);
  });
});

/** Further variants of a sealed document; each is reported, none is trusted. */
type Version = () => Buffer | Promise<Buffer>;
const catalog = (more = '') => `<< /Type /Catalog /Pages 1 0 R /Lang (en) /AcroForm 6 0 R ${more} >>`;
const stream = (text: string) => `<< /Length ${text.length} >>\nstream\n${text}\nendstream`;
const range = () => /\/ByteRange \[[^\]]*\]/.exec(sealed.toString('latin1'))?.[0] ?? '';
const rangeOf = (text: string) => swapped(sealed, range(), `/ByteRange [${text}]`.padEnd(range().length));

const TAMPERED: Record<string, [Version, Partial<Seal>]> = {
  'the text after the signature': [
    () => swapped(sealed, '/T (EsignSeal)', '/T (EsignXxxx)'),
    { state: 'changed' },
  ],
  'extra objects in addition to validation data': [
    () => updated(sealed, { 2: catalog('/DSS << >>'), 9: stream('0 0 m') }),
    { coverage: 'extended' },
  ],
  'a freed object': [
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
  'the signature hidden from the form': [
    () => swapped(sealed, '/AcroForm 6 0 R', '/AcroFarm 6 0 R'),
    { state: 'unreadable' },
  ],
  'a ByteRange of nulls': [() => rangeOf('null null null null'), { state: 'unreadable' }],
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
  'an unknown kind of signature': [
    () => swapped(sealed, '/ETSI.CAdES.detached', '/adbe.x509.rsa_sha1 '),
    { state: 'unreadable' },
  ],
};

describe('tampering', () => {
  it.each(Object.entries(TAMPERED))('is reported and not trusted: %s', async (_, [make, expected]) => {
    const pdf = await make();
    expect(pdf.equals(sealed)).toBe(false);
    const seal = await sealOf(pdf);
    expect(seal).toMatchObject(expected);
    expect(isBelieved(seal)).toBe(false);
    expect(seal.state).not.toBe('unsigned');
  });

  it('is detected in any byte outside the signature', async () => {
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

  it('is detected in any byte of the signature', async () => {
    const at = fc.integer({ min: 0, max: partsOf(sealed).hex.length / 2 - 1 });
    await fc.assert(
      fc.asyncProperty(at, fc.constantFrom<(0 | 1)[]>(0, 1), async (place, digit) => {
        expect(isBelieved(await sealOf(flippedInCms(sealed, place, digit)))).toBe(false);
      }),
      { numRuns: 200 },
    );
  });

  it('is detected in the frame of the signature', async () => {
    for (let place = 0; place < 60; place++)
      expect([place, isBelieved(await sealOf(flippedInCms(sealed, place, 1)))]).toEqual([place, false]);
  });

  it('is detected if the file is truncated anywhere', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: sealed.length - 1 }), async (length) => {
        const seal = await sealOf(sealed.subarray(0, length));
        expect(isBelieved(seal)).toBe(false);
      }),
      { numRuns: 100 },
    );
  });
});
