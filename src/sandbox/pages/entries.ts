import type { EnvelopeRecord, SignerRecord, TemplateField } from '../model.ts';
import { fieldsOf, initials, isSigningDate } from '../service/fields.ts';
import { isoTime } from '../service/sandbox-clock.ts';
import type { State } from '../service/state.ts';

/** The signer's fields in reading order: page, then from top to bottom, then from left to right. */
export function fieldsFor(state: State, envelope: EnvelopeRecord, signer: SignerRecord): TemplateField[] {
  const template = state.templates.get(envelope.templateId);
  const fields = template === undefined ? [] : fieldsOf(template, signer);
  return fields.toSorted((a, b) => a.page - b.page || a.y - b.y || a.x - b.x);
}

/** What can be filled in beforehand: the day of signing, the initials, a name in print. A signature is left to the signer. */
export function prefilled(
  fields: readonly TemplateField[],
  signer: SignerRecord,
  now: number,
): Record<string, string> {
  const known = (field: TemplateField): string => {
    if (field.type === 'INITIALS') return initials(signer.name);
    if (isSigningDate(field)) return isoTime(now).slice(0, 10);
    return field.type === 'TEXT' && /name in print/i.test(field.label) ? signer.name : '';
  };
  return Object.fromEntries(fields.map((field) => [field.fieldId, known(field)]));
}

/** The values of a posted form, by field id; a checkbox that is not ticked is not posted. */
export function entered(
  fields: readonly TemplateField[],
  body: Readonly<Record<string, unknown>>,
): Record<string, string> {
  return Object.fromEntries(
    fields.map((field) => {
      const value = body[`f.${field.fieldId}`];
      const text = typeof value === 'string' ? value.trim().slice(0, 500) : '';
      return [field.fieldId, field.type === 'CHECKBOX' ? String(text === 'true') : text];
    }),
  );
}

/** Why the form can't be signed yet, in words; nothing when it can. */
export function problemsWith(
  fields: readonly TemplateField[],
  values: Readonly<Record<string, string>>,
  consent: boolean,
): string[] {
  const problems = fields.flatMap((field) => {
    const value = values[field.fieldId] ?? '';
    if (field.required && (value === '' || value === 'false'))
      return [`${field.label} (page ${field.page}) is required.`];
    if (field.type === 'DROPDOWN' && value !== '' && field.options?.includes(value) === false)
      return [`${field.label} must be one of the choices.`];
    return [];
  });
  return consent ? problems : [...problems, 'Tick that you have read the document and agree.'];
}
