import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { FieldRecord, SignerRecord, TemplateRecord } from '../../src/sandbox/model.ts';
import { infoOf, needsReader, prepareFonts, textIn, textOf } from './reader.ts';
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

  it('has the same bytes for the same input', async () => {
    const of = template('tmpl_employment');
    const [first, second] = [await signedPdf(of, filled(of)), await signedPdf(of, filled(of))];
    expect(Buffer.compare(first, second)).toBe(0);
    const other = filled(of).map((each) => ({ ...each, signatureId: 'another' }));
    expect(Buffer.compare(first, await signedPdf(of, other))).not.toBe(0);
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
