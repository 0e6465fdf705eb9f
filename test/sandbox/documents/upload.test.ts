import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createDocumentMaker } from '../../../src/sandbox/documents/index.ts';
import type { FieldRecord, TemplateRecord } from '../../../src/sandbox/model.ts';
import { darkIn, infoOf, needsReader, pagesOf, prepareFonts, textIn } from './reader.ts';
import { envelope, maker, signer, template } from './samples.ts';
import { plainPdf, protectedPdf, turnedPdf } from './uploads.ts';

beforeAll(prepareFonts);

const place = { page: 1, x: 300, y: 120, width: 150, height: 40 };
const field: FieldRecord = {
  fieldId: 'note_1',
  type: 'TEXT',
  label: 'Note',
  required: true,
  role: 'Signer',
  ...place,
};

/** Within the outline of the field. */
const inner = { page: 1, x: place.x + 2, y: place.y + 2, width: place.width - 4, height: place.height - 4 };

function uploaded(pages: { width: number; height: number }[], fields = [field]): TemplateRecord {
  return {
    ...template('tmpl_nda'),
    id: 'tmpl_own',
    name: 'Own pdf',
    pageCount: pages.length,
    fields,
    roles: ['Signer'],
    upload: { orgId: 'org_1', pages },
  };
}

describe('an uploaded PDF', () => {
  it('is measured as displayed', async () => {
    expect(await maker.inspect(await plainPdf())).toEqual({
      pages: [
        { width: 595, height: 842 },
        { width: 842, height: 595 },
      ],
    });
    for (const degrees of [0, 180, 360, -180])
      expect(await maker.inspect(turnedPdf(degrees))).toEqual({ pages: [{ width: 512, height: 712 }] });
    for (const degrees of [90, 270, -90])
      expect(await maker.inspect(turnedPdf(degrees))).toEqual({ pages: [{ width: 712, height: 512 }] });
  });

  it.each([
    ['a protected file', protectedPdf, 'is protected'],
    ['a truncated file', async () => (await plainPdf()).subarray(0, 600), 'damaged or incomplete'],
    [
      'garbage after a PDF header',
      async () => Buffer.from(`%PDF-1.7\n${'x'.repeat(5_000)}`),
      'damaged or incomplete',
    ],
    ['another file', async () => Buffer.from('PK\u0003\u0004'), 'does not begin with %PDF-'],
    ['an empty file', async () => new Uint8Array(), 'does not begin with %PDF-'],
  ])('is refused with a sentence: %s', async (_, make, words) => {
    const inspection = await maker.inspect(await make());
    expect('problem' in inspection && inspection.problem).toContain(words);
  });
});

describe('the documents of an uploaded template', needsReader, () => {
  it.each([0, 90, 180, 270])(
    'have values where the page rotated by %i degrees shows the field',
    async (degrees) => {
      const pdf = turnedPdf(degrees);
      const inspection = await maker.inspect(pdf);
      const of = uploaded('pages' in inspection ? inspection.pages : []);
      const document = await maker.document(of, pdf);
      expect(pagesOf(document).join('')).toContain('Inherited');
      const signed = await maker.signed({
        template: of,
        envelope: envelope(of, [signer(1, { values: { note_1: 'Stamped' } })]),
        document,
      });
      expect(infoOf(signed).get('Title')).toBe('Own pdf (signed)');
      expect(pagesOf(signed).join('')).toContain('Inherited');
      expect(darkIn(document, inner)).toBe(0);
      expect(darkIn(signed, inner)).toBeGreaterThan(20);
      const around = {
        ...place,
        x: place.x - 60,
        y: place.y - 60,
        width: place.width + 120,
        height: place.height + 120,
      };
      const stamped = darkIn(signed, around) - darkIn(document, around);
      expect(darkIn(signed, inner), 'inside the field').toBe(stamped);
      expect(Buffer.compare(document, await maker.document(of, pdf))).toBe(0);
    },
  );

  it('keep the pages and their order', { tags: ['full'] }, async () => {
    const pdf = await plainPdf();
    const of = uploaded(
      [
        { width: 595, height: 842 },
        { width: 842, height: 595 },
      ],
      [{ ...field, page: 2 }],
    );
    const document = await maker.document(of, pdf);
    const values = { note_1: 'On the second' };
    const signed = await maker.signed({
      template: of,
      envelope: envelope(of, [signer(1, { values })]),
      document,
    });
    const pages = pagesOf(signed, '-layout');
    expect(pages).toHaveLength(2);
    expect(pages[0]).toContain('Contract of sale');
    expect(pages[0]).not.toContain('On the second');
    expect(textIn(signed, { ...place, page: 2 })).toBe('On the second');
  });

  it('cannot be created from a document that is already signed', async () => {
    const sealFolder = await mkdtemp(join(tmpdir(), 'esign-seal-'));
    try {
      const sealing = createDocumentMaker({ sealFolder });
      const of = template('tmpl_nda');
      const document = await sealing.document(of);
      const signed = await sealing.signed({ template: of, envelope: envelope(of, [signer(1)]), document });
      const inspection = await maker.inspect(signed);
      expect('problem' in inspection && inspection.problem).toContain('already signed');
    } finally {
      await rm(sealFolder, { recursive: true, force: true });
    }
  });
});
