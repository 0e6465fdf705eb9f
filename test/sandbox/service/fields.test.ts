import { describe, expect, it } from 'vitest';
import type { FieldRecord, SignerRecord, TemplateRecord } from '../../../src/sandbox/model.ts';
import { DEFAULT_RULES } from '../../../src/sandbox/service/base/choices.ts';
import { ApiError } from '../../../src/sandbox/service/base/errors.ts';
import { draftEnvelope } from '../../../src/sandbox/service/engine/draft.ts';
import {
  type Entries,
  fieldsOf,
  fillFields,
  initials,
  isSigningDate,
} from '../../../src/sandbox/service/engine/fields.ts';
import { ada, lease } from './rig.ts';

const NOW = Date.parse('2026-03-01T23:59:59.999Z');
const body = { templateId: lease.id, signers: [ada] };
const draft = draftEnvelope('org_1', lease, body, NOW, { randomId: () => 'x', rules: DEFAULT_RULES });
const signer = (role = 'Tenant'): SignerRecord => {
  const [one] = draft.signers;
  if (one === undefined) throw new Error('no signer');
  return { ...one, role };
};

function template(...fields: Partial<FieldRecord>[]): TemplateRecord {
  const [first] = lease.fields;
  if (first === undefined) throw new Error('no field');
  return { ...lease, fields: fields.map((one) => ({ ...first, ...one })) };
}
const fill = (of: TemplateRecord, entries: Partial<Entries> = {}) =>
  fillFields(of, signer(), { values: {}, ...entries }, NOW);
const problemsOf = (of: TemplateRecord, values: Entries['values']) => {
  try {
    return fill(of, { values });
  } catch (error) {
    return error instanceof ApiError && Object.keys(error.details ?? {});
  }
};

describe('the fields of a signer', () => {
  it('are those of the role', () => {
    expect(fieldsOf(lease, signer('Landlord')).map(({ fieldId }) => fieldId)).toEqual(['landlord_sig']);
    expect(fieldsOf(lease, signer('Witness'))).toEqual([]);
  });

  it('get plausible values by type', () => {
    expect(fill(lease)).toEqual({
      tenant_sig: 'Ada Lovelace',
      tenant_initials: 'AL',
      tenant_date: '2026-03-01',
      tenant_email: 'ada@example.com',
      tenant_agrees: 'true',
      tenant_term: '1 year',
    });
  });

  it.each([
    ['E-mail', 'ada@example.com'],
    ['email', 'ada@example.com'],
    ['Mobile', '+1 555 0100'],
    ['Phone', '+1 555 0100'],
    ['Company name', 'Example Ltd'],
    ['Organisation', 'Example Ltd'],
    ['Organization', 'Example Ltd'],
    ['Employer', 'Example Ltd'],
    ['Address', '1 Example Street'],
    ['Street', '1 Example Street'],
    ['City', 'Springfield'],
    ['Place', 'Springfield'],
    ['Job', 'Manager'],
    ['Job title', 'Manager'],
    ['Position', 'Manager'],
    ['Rent', '100'],
    ['Number of days', '100'],
    ['Salary', '100'],
    ['Full name', 'Ada Lovelace'],
    ['Remarks', 'Sample text'],
  ])('get plausible text for the label %s', (label, text) => {
    expect(fill(template({ type: 'TEXT', label, fieldId: 'a' }))).toEqual({ a: text });
  });

  it('get the entered values, and none for drawings', () => {
    const values = { tenant_email: 'x', tenant_agrees: false, tenant_term: '2 years' };
    const drawings = { tenant_sig: [[0, 0, 1, 1]] };
    expect(fill(lease, { values, drawings })).toMatchObject({
      tenant_email: 'x',
      tenant_agrees: 'false',
      tenant_term: '2 years',
      tenant_sig: '',
    });
  });

  it('without options get an empty choice', () => {
    expect(fill(template({ type: 'DROPDOWN', fieldId: 'a' }))).toEqual({ a: '' });
  });
});

describe('an entered value', () => {
  const one = (more: Partial<FieldRecord>) => template({ fieldId: 'a', ...more });
  it.each<[string, TemplateRecord, Entries['values'], boolean]>([
    ['of another role', lease, { landlord_sig: 'x' }, false],
    ['of no field', lease, { nothing: 'x' }, false],
    ['true', one({ type: 'CHECKBOX' }), { a: true }, true],
    ['"false"', one({ type: 'CHECKBOX' }), { a: 'false' }, true],
    ['"yes"', one({ type: 'CHECKBOX' }), { a: 'yes' }, false],
    ['"yes" as text', one({ type: 'TEXT' }), { a: 'yes' }, true],
    ['an option', one({ type: 'DROPDOWN', options: ['x', 'y'] }), { a: 'y' }, true],
    ['an unknown option', one({ type: 'DROPDOWN', options: ['x', 'y'] }), { a: 'z' }, false],
    ['any option without a list', one({ type: 'DROPDOWN' }), { a: 'z' }, true],
    ['no option', one({ type: 'DROPDOWN', options: ['x'], required: false }), { a: '' }, true],
    ['no option if required', one({ type: 'DROPDOWN', options: ['x'], required: true }), { a: '' }, false],
    ['any text for a date', one({ type: 'DATE' }), { a: '1 March' }, true],
    ['no date', one({ type: 'DATE', required: false }), { a: '' }, true],
    ['blank', one({ type: 'TEXT', required: false }), { a: ' ' }, true],
    ['blank if required', one({ type: 'TEXT', required: true }), { a: ' ' }, false],
    ['a number', one({ type: 'TEXT' }), { a: 7 }, true],
  ])('%s is checked', (_, of, values, isAccepted) => {
    const [name = ''] = Object.keys(values);
    const found = problemsOf(of, values);
    if (isAccepted) expect(found).toMatchObject({ [name]: String(values[name]) });
    else expect(found).toEqual([`values.${name}`]);
  });
});

describe('a label of a date', () => {
  const isDate = (label: string, type: FieldRecord['type'] = 'DATE') =>
    template({ label, type }).fields.map(isSigningDate)[0];
  it.each<[string, boolean]>([
    ['Date', true],
    [' date ', true],
    ['Signing date', true],
    ['Signature date', true],
    ['Date signed', true],
    ['Date of signature', true],
    ['Date of signing', true],
    ['Signed', true],
    ['Signed on', true],
    ['Date of birth', false],
    ['Start date', false],
    ['Dated', false],
    ['Signed by', false],
  ])('%s means the signing date: %s', (label, expected) => {
    expect(isDate(label)).toBe(expected);
    expect(isDate(label, 'TEXT')).toBe(false);
  });
});

it.each([
  ['Ada King Lovelace', 'AKL'],
  ['ada', 'A'],
  ['  ada   lovelace ', 'AL'],
  ['a b c d', 'ABC'],
  ['', ''],
])('the initials of "%s" are %s', (name, expected) => {
  expect(initials(name)).toBe(expected);
});
