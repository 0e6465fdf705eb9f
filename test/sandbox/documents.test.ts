import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { FieldRecord, SignerRecord, TemplateRecord } from '../../src/sandbox/model.ts';
import { infoOf, needsReader, pagesOf, prepareFonts, strokesIn, textIn, textOf } from './reader.ts';
import { certificate, maker, signedPdf, signer, template } from './samples.ts';

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

describe('document.pdf', needsReader, () => {
  it.each(maker.templates())('has its pages, with a label at each field: $name', async (of) => {
    const pdf = await maker.document(of);
    expect(infoOf(pdf).get('Pages')).toBe(String(of.pageCount));
    const text = textOf(pdf).replace(/\s+/g, ' ');
    expect(text).toContain(of.name);
    for (const { label } of of.fields) expect(text).toContain(label);
  });
});

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
      const points = (await strokesIn(pdf, field.page)).filter((point) => inside(point, field));
      expect(points.length, id).toBe(id === 'intake_signature' ? 8 : 6);
      expect(textIn(pdf, field).includes('Person Number 1')).toBe(id === 'intake_signature');
    }
    const elsewhere = (await strokesIn(pdf, 2)).filter(
      (point) => !of.fields.some((field) => inside(point, field)),
    );
    expect(elsewhere).toEqual([]);
    expect(textOf(pdf).split('Person Number 1')).toHaveLength(2);
    expect(Buffer.compare(pdf, await signedPdf(of, [patient]))).toBe(0);
  });

  it.each(['Łukasz Řehoř', 'Ελένη Παπαδοπούλου', 'Дмитрий Иванов', 'Zoë Ångström'])(
    'shows the name %s as text',
    async (name) => {
      const pdf = await signedPdf(template('tmpl_nda'), [signer(1, { name })]);
      // As the signature and below it.
      expect(textOf(pdf).replace(/\s+/gu, ' ').split(name)).toHaveLength(3);
    },
  );

  it.each([
    '李小龍 😀',
    'محمد',
    '\u0000\u001b[2J',
    '\ud800',
    '\u202egnp.exe',
    ') Tj ET (',
    'x'.repeat(5_000),
  ])('is drawn whatever a signer enters: %j', async (value) => {
    const of = template('tmpl_intake');
    const values = Object.fromEntries(of.fields.map(({ fieldId }) => [fieldId, value]));
    const pdf = await signedPdf(of, [signer(1, { role: 'Patient', name: value, values })]);
    expect(textOf(pdf)).toContain('Patient intake form');
    expect(textOf(pdf)).not.toContain('\u202e');
  });

  it("appends a page for signers whose role's fields are used by others", async () => {
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

  it('keeps long text inside its box', async () => {
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
});

describe('certificate.pdf', needsReader, () => {
  it('has the facts of the envelope, its documents, and each signer', async () => {
    const declined = signer(2, {
      status: 'DECLINED',
      signedAt: null,
      declinedAt: '2026-01-02T10:30:00.000Z',
      declineReason: 'The rent is wrong',
    });
    const facts = { subject: 'Lease for Quayside 4', signingOrder: 'SEQUENTIAL' } as const;
    const text = textOf(await certificate(template('tmpl_nda'), [signer(1), declined], facts));
    const sha256 = (what: string) => createHash('sha256').update(what).digest('hex');
    for (const fact of [
      ...['Certificate of completion', 'env_01JGKQ7Z4T8N3V5X', 'Lease for Quayside 4', 'Sequential'],
      ...['2026-01-02 08:59:00 UTC', sha256('document'), sha256('signed'), 'Person Number 1'],
      ...[
        'signer1@example.com',
        'signed · Person Number 1',
        signer(1).signatureId,
        'The rent is wrong',
        'SANDBOX',
      ],
    ])
      expect(text).toContain(fact);
  });
});
