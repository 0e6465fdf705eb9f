import * as z from 'zod';
import type { ErrorDetails } from '../../../kernel/errors.ts';
import type { Drawing, FieldRecord, FieldType, SignerRecord, TemplateRecord } from '../../model.ts';
import { invalidBody } from '../base/errors.ts';
import { isoTime } from '../base/sandbox-clock.ts';

/** The values that a caller enters, by field ID. */
type EnteredValues = Record<string, string | boolean | number>;

/** A signer's input by field ID: values, and drawings instead of typed signatures and initials. */
export interface SignerEntries {
  values: EnteredValues;
  drawings?: Record<string, Drawing>;
}

/** Returns the fields of the signer's role, which the signer fills. */
export function fieldsOfSigner(template: TemplateRecord, signer: SignerRecord): FieldRecord[] {
  return template.fields.filter((field) => field.role === signer.role);
}

/** Returns true if a field's label means the signing date: `Date`, `Date signed`, `Signed on`, but not a date of birth or a start date. */
export function isSigningDate(field: FieldRecord): boolean {
  const label = field.label.trim();
  return (
    field.type === 'DATE' &&
    /^((signing |signature )?date|date (signed|of signature|of signing)|signed( on)?)$/i.test(label)
  );
}

/** Returns true for a date as browsers post it, such as 2026-03-01. */
export function isDate(value: string): boolean {
  return z.iso.date().safeParse(value).success;
}

/**
 * Returns the values of a signature: the entered value, an empty one for a drawing, and a plausible one for every other field. Throws
 * VALIDATION_ERROR for a field of another signer, an unknown option, or a checkbox that is neither true nor false.
 */
export function fillFields(
  template: TemplateRecord,
  signer: SignerRecord,
  { values, drawings = {} }: SignerEntries,
  now: number,
): Record<string, string> {
  const fields = fieldsOfSigner(template, signer);
  const given = new Map(Object.entries(values).map(([fieldId, value]) => [fieldId, String(value)]));
  const details: [string, string[]][] = [];
  for (const fieldId of given.keys()) {
    if (!fields.some((field) => field.fieldId === fieldId))
      details.push([`values.${fieldId}`, [`Unknown field for ${signer.role}`]]);
  }
  const isDrawn = ({ fieldId }: FieldRecord) => Object.hasOwn(drawings, fieldId);
  for (const field of fields) {
    const problem = isDrawn(field) ? undefined : problemWith(field, given.get(field.fieldId));
    if (problem) details.push([`values.${field.fieldId}`, [problem]]);
  }
  if (details.length > 0) throw invalidBody(Object.fromEntries(details) satisfies ErrorDetails);
  return Object.fromEntries(
    fields.map((field) => [
      field.fieldId,
      isDrawn(field) ? '' : (given.get(field.fieldId) ?? PLAUSIBLE[field.type](field, signer, now)),
    ]),
  );
}

function problemWith(field: FieldRecord, value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (field.type === 'CHECKBOX' && value !== 'true' && value !== 'false') return 'Must be true or false';
  if (field.type === 'DROPDOWN' && value !== '' && field.options && !field.options.includes(value))
    return `Must be one of ${field.options.join(', ')}`;
  if (field.required && value.trim() === '') return `${field.label} is required`;
  return undefined;
}

const PLAUSIBLE: Record<FieldType, (field: FieldRecord, signer: SignerRecord, now: number) => string> = {
  SIGNATURE: (_field, signer) => signer.name,
  INITIALS: (_field, signer) => initials(signer.name),
  DATE: (_field, _signer, now) => isoTime(now).slice(0, 10),
  CHECKBOX: () => 'true',
  DROPDOWN: ({ options }) => options?.[0] ?? '',
  TEXT: sampleText,
};

function sampleText({ label }: FieldRecord, { name, email }: SignerRecord): string {
  if (/e-?mail/i.test(label)) return email;
  return /name/i.test(label) ? name : 'Sample text';
}

/** Returns the first letters of up to three words of a name: "Ada King Lovelace" gives "AKL". */
export function initials(name: string): string {
  const letters = name
    .trim()
    .split(/\s+/u)
    .map((word) => [...word][0] ?? '');
  return letters.slice(0, 3).join('').toUpperCase();
}
