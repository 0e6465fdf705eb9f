import { beforeAll, describe, expect, it } from 'vitest';
import type { FieldRecord, SignerRecord, TemplateRecord } from '../../../src/sandbox/model.ts';
import { infoOf, needsReader, pagesOf, prepareFonts, strokesIn, textIn, textOf } from './reader.ts';
import { envelope, maker, signedPdf, signer, template } from './samples.ts';

beforeAll(prepareFonts);

/** One signer per role, with a value in each field. */
function filled(of: TemplateRecord): SignerRecord[] {
  return of.roles.map((role, index) => {
    const values: Record<string, string> = {};
    for (const field of of.fields) if (field.role === role) values[field.fieldId] = sample(field);
    return signer(index + 1, { role, name: `Person ${role}`, values });
  });
}

function sample(field: FieldRecord): string {
  switch (field.type) {
    case 'SIGNATURE':
      return `Sgn${field.role}`;
    case 'INITIALS':
      return 'PQ';
    case 'DATE':
      return '2026-01-03';
    case 'TEXT':
      return `Txt ${field.page}${Math.round(field.y)}`;
    case 'CHECKBOX':
      return 'true';
    case 'DROPDOWN':
      return field.options?.[1] ?? '';
  }
}

function inside(point: { x: number; y: number }, { x, y, width, height }: FieldRecord): boolean {
  return point.x > x && point.x < x + width && point.y > y && point.y < y + height;
}

describe('signed.pdf', needsReader, () => {
  it.each(maker.templates())('has each value in its own field: $name', async (of) => {
    const signers = filled(of);
    const pdf = await signedPdf(of, signers);
    expect(infoOf(pdf).get('Pages')).toBe(String(of.pageCount));
    for (const field of of.fields.filter(({ type }) => type !== 'CHECKBOX')) {
      const found = textIn(pdf, field).replace(/\s+/g, ' ');
      expect(found, field.fieldId).toContain(sample(field));
      if (field.type !== 'SIGNATURE') continue;
      const by = signers.find(({ role }) => role === field.role);
      expect(found).toContain(`Signed by ${by?.name} · 2026-01-02 10:0${by?.order}:12 UTC`);
      expect(found).toContain(`ID ${by?.signatureId}`);
    }
  });

  it('marks every page as created in a sandbox and names the envelope', async () => {
    const pages = pagesOf(await signedPdf(template('tmpl_lease'), filled(template('tmpl_lease'))), '-layout');
    expect(pages).toHaveLength(4);
    for (const page of pages) {
      expect(page).toContain('SANDBOX');
      expect(page).toContain('Not legally binding.');
      expect(page).toContain('Envelope env_01JGKQ7Z4T8N3V5X');
    }
  });

  it('describes itself in its properties', async () => {
    const pdf = await signedPdf(template('tmpl_nda'), [signer(1)]);
    const info = infoOf(pdf);
    expect(info.get('Title')).toBe('Confidentiality undertaking (signed)');
    expect(info.get('Subject')).toBe('Envelope env_01JGKQ7Z4T8N3V5X: Please sign');
    expect(info.get('Keywords')).toContain(signer(1).signatureId);
    expect(info.get('Producer')).toBe('esign sandbox');
    expect(info.get('CreationDate')).toContain('2026');
  });

  it('fills in missing required fields: name, initials, day of signature', async () => {
    const of = template('tmpl_intake');
    const pdf = await signedPdf(of, [signer(1, { role: 'Patient', name: 'Grace Brewster Hopper' })]);
    const inField = (id: string): string =>
      textIn(
        pdf,
        of.fields.find(({ fieldId }) => fieldId === id) ?? { page: 9, x: 0, y: 0, width: 0, height: 0 },
      );
    expect(inField('intake_signature')).toContain('Grace Brewster Hopper');
    expect(inField('intake_initials')).toBe('GBH');
    expect(inField('intake_date')).toBe('2026-01-02');
    expect(inField('intake_birth')).toBe('');
    expect(inField('intake_address')).toBe('');
  });

  it('shows drawn signatures as lines within the box, without the typed name', async () => {
    const of = template('tmpl_intake');
    const zigzag = [0, 0, 250, 1000, 500, 0, 750, 1000, 1000, 0];
    const drawings = { intake_signature: [zigzag, [500, 500]], intake_initials: [zigzag] };
    const values = { intake_signature: '', intake_initials: '' };
    const patient = signer(1, { role: 'Patient', values, drawings });
    const pdf = await signedPdf(of, [patient]);
    for (const id of ['intake_signature', 'intake_initials']) {
      const field = of.fields.find(({ fieldId }) => fieldId === id);
      if (!field) throw new Error('no field');
      const curves = (await strokesIn(pdf, field.page)).filter((point) => inside(point, field));
      expect(curves.length, id).toBe(id === 'intake_signature' ? 13 : 11);
      expect(textIn(pdf, field).includes('Person Number 1')).toBe(id === 'intake_signature');
    }
    const elsewhere = (await strokesIn(pdf, 2)).filter(
      (point) => !of.fields.some((field) => inside(point, field)),
    );
    expect(elsewhere).toEqual([]);
    expect(textOf(pdf).split('Person Number 1')).toHaveLength(2);
    expect(Buffer.compare(pdf, await signedPdf(of, [patient]))).toBe(0);
  });

  it('puts drawings of signers without fields on the appended page', {
    tags: ['full'],
  }, async () => {
    const of = template('tmpl_intake');
    const drawings = { intake_signature: [[0, 0, 400, 300]], intake_initials: [[0, 0, 100, 100]] };
    const other = signer(2, { role: 'Patient', drawings });
    const pdf = await signedPdf(of, [signer(1, { role: 'Patient' }), other]);
    expect([...(await strokesIn(pdf, 1)), ...(await strokesIn(pdf, 2))]).toEqual([]);
    expect(await strokesIn(pdf, 3)).toHaveLength(4);
    expect(pagesOf(pdf, '-layout')[2]).toContain('Initials');
  });

  it('draws a tick only in ticked boxes', { tags: ['full'] }, async () => {
    const of = template('tmpl_intake');
    const pdf = (value: string): Promise<Uint8Array> =>
      signedPdf(of, [signer(1, { role: 'Patient', values: { intake_smoker: value } })]);
    const [ticked, open, absent] = [await pdf('true'), await pdf('false'), await pdf('')];
    expect(Buffer.compare(open, absent)).toBe(0);
    expect(ticked.length).toBeGreaterThan(open.length);
  });

  it.each([
    'Łukasz Řehoř',
    '李小龍',
    '髙﨑 龔邉',
    'Ελένη Παπαδοπούλου',
    'Дмитрий Иванов',
    'Nguyễn Thị Ánh',
    'とうきょう タロウ',
    '김철수',
    'श्रीमती क्षत्रिय',
    'สมชาย ใจดี',
    'محمد عبد الله',
    'דוד בן גוריון',
    'Zoë 😀',
  ])('draws %s so that it can be extracted', async (name) => {
    const pdf = await signedPdf(template('tmpl_nda'), [signer(1, { name })]);
    const text = textOf(pdf).replace(/\s+/gu, ' ');
    // As the signature and below it.
    expect(text.split(name).length).toBe(3);
    expect(text).not.toContain('U+');
    expect(pdf.length).toBeLessThan(300_000);
  });

  it('shows characters without a glyph, and misleading ones, as code points', async () => {
    const of = template('tmpl_nda');
    const text = textOf(await signedPdf(of, [signer(1, { name: 'Ann\u202egnp.exe\u0007 ქ \u2068x' })]));
    for (const shown of ['U+202E', 'U+0007', 'U+10E5', 'U+2068']) expect(text).toContain(shown);
    expect(text).toMatch(/Ann\s*U\+202E\s*gnp\.exe/);
  });

  it("appends a page for signers whose role's fields are used by others", { tags: ['full'] }, async () => {
    const of = template('tmpl_nda');
    const signers = Array.from({ length: 20 }, (_, index) => signer(index + 1));
    const pages = pagesOf(await signedPdf(of, signers), '-layout');
    expect(pages.slice(of.pageCount).length).toBe(2);
    expect(pages[2]).toContain('Additional signatures');
    expect(pages[2]).toContain('Appended page 1 of 2');
    const appended = pages.slice(2).join('');
    for (const { signatureId, email, order } of signers.slice(1)) {
      expect(appended).toContain(signatureId);
      expect(appended).toContain(email);
      expect(appended).toContain(`Signed by Person Number ${order} ·`);
    }
    expect(appended).not.toContain('signer1@example.com');
    expect(pages[1]).toContain(signers[0]?.signatureId);
  });

  it('also appends signers with an unknown role, with their values', {
    tags: ['full'],
  }, async () => {
    const of = template('tmpl_nda');
    const witness = signer(2, {
      role: 'Witness',
      values: { nda_company: 'Beta Works', nda_signature: 'W. Itness' },
    });
    const pages = pagesOf(await signedPdf(of, [signer(1), witness]), '-layout');
    expect(pages).toHaveLength(3);
    expect(pages[2]).toContain('Witness');
    expect(pages[2]).toContain('W. Itness');
    expect(pages[2]).toContain('Beta Works');
  });

  it('omits those who have not signed', { tags: ['full'] }, async () => {
    const pdf = await signedPdf(template('tmpl_nda'), [
      signer(1),
      signer(2, { signedAt: null, status: 'SENT' }),
    ]);
    expect(infoOf(pdf).get('Pages')).toBe('2');
    expect(textOf(pdf)).not.toContain('Person Number 2');
  });

  it('keeps all 5,000 characters of a value: the beginning in the box, everything on appended pages', {
    tags: ['full'],
  }, async () => {
    const of = template('tmpl_intake');
    const words = Array.from({ length: 714 }, (_, index) => `w${String(index).padStart(5, '0')}`);
    const values = { intake_reason: words.join(' '), intake_phone: words.join('') };
    const pdf = await signedPdf(of, [signer(1, { role: 'Patient', values })]);
    const pages = pagesOf(pdf);
    expect(pages.length).toBeGreaterThan(of.pageCount);
    expect(pages[0]).toContain('an appended page');
    const appended = pages
      .slice(2)
      .map((_, index) => textIn(pdf, { page: index + 3, x: 170, y: 60, width: 400, height: 720 }))
      .join('')
      .replace(/\s+/g, '');
    for (const word of words) expect(appended.split(word).length).toBeGreaterThanOrEqual(3);
  });

  it('keeps long text inside its box', { tags: ['full'] }, async () => {
    const of = template('tmpl_intake');
    const values = Object.fromEntries(
      of.fields.map(({ fieldId, type }) => [fieldId, type === 'CHECKBOX' ? '' : 'Wide '.repeat(60)]),
    );
    const pdf = await signedPdf(of, [signer(1, { role: 'Patient', name: 'Wide '.repeat(60), values })]);
    const outside = { page: 1, x: 531.5, y: 60, width: 64, height: 700 };
    expect(textIn(pdf, outside)).toBe('');
    for (const field of of.fields.filter(({ type }) => type === 'TEXT')) {
      expect(textIn(pdf, { ...field, x: field.x + field.width + 1, width: 12 }), field.fieldId).toBe('');
      expect(textIn(pdf, { ...field, y: field.y + field.height, height: 7 }), field.fieldId).toBe('');
    }
  });

  it('survives hostile values', { tags: ['full'] }, async () => {
    const hostile = [
      '\u0000\u001b[2J\u0085',
      '\ud800\udfff\ud83d',
      '\u202e\u2066\u2069\u2068',
      'x'.repeat(5000),
      ') Tj ET (',
      '\u0301'.repeat(400),
      '\u{10ffff}\u{f0041}',
      '\u200b\ufeff',
    ];
    for (const value of hostile) {
      const of = template('tmpl_intake');
      const values = Object.fromEntries(of.fields.map(({ fieldId }) => [fieldId, value]));
      const pdf = await signedPdf(
        of,
        [signer(1, { role: 'Patient', name: value, signatureId: value, values })],
        { subject: value },
      );
      expect(Number(infoOf(pdf).get('Pages'))).toBeGreaterThanOrEqual(2);
      expect(textOf(pdf)).toContain('Patient intake form');
    }
  });

  it('has the same bytes for the same input', async () => {
    const of = template('tmpl_employment');
    const [first, second] = [await signedPdf(of, filled(of)), await signedPdf(of, filled(of))];
    expect(Buffer.compare(first, second)).toBe(0);
    const other = filled(of).map((each) => ({ ...each, signatureId: 'another' }));
    expect(Buffer.compare(first, await signedPdf(of, other))).not.toBe(0);
  });

  it('rejects a document that is not a PDF', async () => {
    const of = template('tmpl_nda');
    const input = {
      template: of,
      envelope: envelope(of, [signer(1)]),
      document: new TextEncoder().encode('<html>'),
    };
    await expect(maker.signed(input)).rejects.toThrow();
  });
});
