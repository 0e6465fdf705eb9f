import { beforeAll, describe, expect, it } from 'vitest';
import { drawDocument } from '../../../src/sandbox/documents/document.ts';
import { infoOf, needsReader, pagesOf, prepareFonts, textIn, textOf } from './reader.ts';
import { maker, template } from './samples.ts';

beforeAll(prepareFonts);

describe('document.pdf', needsReader, () => {
  it.each(maker.templates())('has its pages, its labels, and a footer: $name', async (of) => {
    const pdf = await maker.document(of);
    const info = infoOf(pdf);
    expect(info.get('Pages')).toBe(String(of.pageCount));
    expect(info.get('Title')).toBe(of.name);
    expect(info.get('Producer')).toBe('esign sandbox');
    expect(info.get('Page size')).toContain('A4');
    const pages = pagesOf(pdf, '-layout');
    for (const [index, page] of pages.entries())
      expect(page).toContain(`Page ${index + 1} of ${of.pageCount}`);
    for (const field of of.fields) expect(pages[field.page - 1]).toContain(field.label);
    expect(pdf.length).toBeLessThan(100_000);
  });

  it.each(maker.templates())('keeps its text out of its fields: $name', async (of) => {
    const pdf = await maker.document(of);
    for (const field of of.fields) expect(textIn(pdf, field).replace('×', ''), field.fieldId).toBe('');
  });

  it.each(maker.templates())('puts each label at its field: $name', async (of) => {
    const pdf = await maker.document(of);
    for (const field of of.fields) {
      const around =
        field.type === 'CHECKBOX'
          ? { ...field, x: field.x + field.width, y: field.y - 3, width: 450, height: field.height + 6 }
          : { ...field, y: field.y - 14, width: Math.max(field.width, 90), height: 14 };
      expect(textIn(pdf, around).replace(/\s+/g, ' ')).toContain(field.label);
    }
  });

  it('has the same bytes each time', async () => {
    const of = template('tmpl_lease');
    expect(Buffer.compare(await drawDocument(of), await drawDocument(of))).toBe(0);
  });

  it('shows the name and the fields of a custom template', async () => {
    const base = template('tmpl_intake');
    const own = {
      ...base,
      id: 'tmpl_own',
      name: 'Smlouva č. 7',
      pageCount: 3,
      fields: base.fields.filter(({ page }) => page === 2),
    };
    const pdf = await maker.document(own);
    expect(infoOf(pdf).get('Pages')).toBe('3');
    expect(textOf(pdf)).toContain('Smlouva č. 7');
    expect(pagesOf(pdf)[1]).toContain('I consent to examination');
  });
});
