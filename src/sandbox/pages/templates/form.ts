import { FIELD_TYPES, type FieldRecord, type FieldType, type TemplateRecord } from '../../model.ts';
import type { TemplateWords } from '../../service/control/template-service.ts';
import { textIn } from '../guard.ts';

/** The limits of a template. */
const LIMITS = { roles: 20, fields: 200, options: 50, text: 200 } as const;

/** The initial and minimum size of a field, in points. */
export const SIZES: Readonly<Record<FieldType, { usual: [number, number]; least: [number, number] }>> = {
  SIGNATURE: { usual: [180, 48], least: [60, 24] },
  INITIALS: { usual: [60, 26], least: [24, 14] },
  DATE: { usual: [90, 20], least: [40, 12] },
  TEXT: { usual: [180, 20], least: [30, 12] },
  CHECKBOX: { usual: [12, 12], least: [8, 8] },
  DROPDOWN: { usual: [150, 20], least: [40, 12] },
};

/** A field of the form. All values are strings. */
export interface FormRow {
  id: string;
  type: string;
  label: string;
  role: string;
  page: string;
  x: string;
  y: string;
  width: string;
  height: string;
  required: boolean;
  /** The options, one per line. */
  options: string;
}

/** The content of the editor's form. */
export interface TemplateForm {
  name: string;
  description: string;
  /** The roles, separated by commas. */
  roles: string;
  rows: FormRow[];
}

export function formOf({ name, description, roles, fields }: TemplateRecord): TemplateForm {
  return { name, description, roles: roles.join(', '), rows: fields.map(rowOf) };
}

function rowOf(field: FieldRecord): FormRow {
  const { fieldId: id, type, label, role, page, x, y, width, height, required, options = [] } = field;
  const spot = { x: `${x}`, y: `${y}`, width: `${width}`, height: `${height}` };
  return { id, type, label, role, page: `${page}`, ...spot, required, options: options.join('\n') };
}

/** Returns a new field for the role. */
export function newRow(role: string): FormRow {
  const [width, height] = SIZES.SIGNATURE.usual;
  const place = { page: '1', x: '64', y: '64', width: `${width}`, height: `${height}` };
  return { id: '', type: 'SIGNATURE', label: 'Signature', role, ...place, required: true, options: '' };
}

/**
 * Reads a posted form. Its rows are `0.label`, `0.x`, and so on, in any order, with gaps for removed rows. The row `without` is omitted,
 * too.
 */
export function readForm(body: Readonly<Record<string, unknown>>, without?: string): TemplateForm {
  const text = (name: string) => textIn(body[name]).trim();
  const numbers = Object.keys(body).flatMap((name) => /^(\d{1,4})\.label$/.exec(name)?.[1] ?? []);
  const rows = numbers
    .filter((number) => number !== without)
    .toSorted((a, b) => Number(a) - Number(b))
    .slice(0, LIMITS.fields + 1)
    .map((number): FormRow => {
      const at = (name: string) => text(`${number}.${name}`);
      const place = { page: at('page'), x: at('x'), y: at('y'), width: at('width'), height: at('height') };
      const words = { id: at('id'), type: at('type'), label: at('label'), role: at('role') };
      return { ...words, ...place, required: at('required') === 'yes', options: at('options') };
    });
  return { name: text('name'), description: text('description'), roles: text('roles'), rows };
}

/** Returns the name, description, and roles of a form, or the problems that prevent saving. */
export function readWords(form: Omit<TemplateForm, 'rows'>): { words: TemplateWords; problems: string[] } {
  const { name, description } = form;
  const roles = distinct(form.roles, ',');
  const problems: string[] = [];
  if (name === '' || name.length > LIMITS.text)
    problems.push(`The name must have from 1 to ${LIMITS.text} characters.`);
  if (description.length > 1_000) problems.push('The description must have at most 1000 characters.');
  if (roles.length === 0 || roles.length > LIMITS.roles)
    problems.push(`The template must have 1 to ${LIMITS.roles} roles.`);
  if (roles.some((role) => role.length > LIMITS.text))
    problems.push(`A role must have at most ${LIMITS.text} characters.`);
  return { words: { name, description, roles }, problems };
}

/** Returns the fields of a form in reading order, or the problems that prevent saving. */
export function readFields(
  rows: readonly FormRow[],
  template: TemplateRecord,
  roles: readonly string[],
): { fields: FieldRecord[]; problems: string[] } {
  const problems: string[] = [];
  if (rows.length === 0) problems.push('Place at least one field.');
  if (rows.length > LIMITS.fields) problems.push(`The template can have at most ${LIMITS.fields} fields.`);
  const known = new Set(template.fields.map(({ fieldId }) => fieldId));
  const taken = new Set<string>();
  const fields = rows.flatMap((row, index) => {
    const wrong = problemsWith(row, template, roles);
    problems.push(...wrong.map((text) => `Field ${index + 1} (${row.label || row.type || 'new'}): ${text}.`));
    if (wrong.length > 0 || !isType(row.type)) return [];
    const fieldId =
      known.has(row.id) && !taken.has(row.id) ? row.id : nameFor(row, new Set([...known, ...taken]));
    taken.add(fieldId);
    return [fieldFrom(row, fieldId, row.type)];
  });
  const idle = roles.filter((role) => !rows.some((row) => row.role === role));
  if (rows.length > 0)
    problems.push(...idle.map((role) => `The role ${role} has no fields. Add one, or remove the role.`));
  return { fields: fields.toSorted((a, b) => a.page - b.page || a.y - b.y || a.x - b.x), problems };
}

function fieldFrom(row: FormRow, fieldId: string, type: FieldType): FieldRecord {
  const { label, role, required } = row;
  const { page, ...spot } = placeOf(row);
  const options = type === 'DROPDOWN' ? { options: distinct(row.options, '\n') } : {};
  return { fieldId, type, label, required, page, role, ...spot, ...options };
}

function problemsWith(row: FormRow, template: TemplateRecord, roles: readonly string[]): string[] {
  const { type, label, role } = row;
  const problems: string[] = [];
  if (!isType(type)) problems.push(`the type must be one of ${FIELD_TYPES.join(', ')}`);
  if (label === '' || label.length > LIMITS.text)
    problems.push(`the label must have from 1 to ${LIMITS.text} characters`);
  if (!roles.includes(role)) problems.push('its role must be a role in the template');
  if (type === 'DROPDOWN') {
    const options = distinct(row.options, '\n');
    if (options.length === 0 || options.length > LIMITS.options)
      problems.push(`a dropdown must have from 1 to ${LIMITS.options} choices`);
    if (options.some((option) => option.length > LIMITS.text))
      problems.push(`a choice must have at most ${LIMITS.text} characters`);
  }
  return [...problems, ...problemsWithPlace(row, template)];
}

function problemsWithPlace(row: FormRow, { upload, pageCount }: TemplateRecord): string[] {
  const { page, x, y, width, height } = placeOf(row);
  if ([row.page, row.x, row.y, row.width, row.height].some((text) => !/^\d{1,5}(\.\d{1,3})?$/.test(text)))
    return ['page, position, and size must be numbers'];
  const size = upload?.pages[page - 1];
  if (size === undefined) return [`the page must be from 1 to ${pageCount}`];
  const [leastWidth, leastHeight] = isType(row.type) ? SIZES[row.type].least : [8, 8];
  if (width < leastWidth || height < leastHeight)
    return [`it must be at least ${leastWidth} points wide and ${leastHeight} points high`];
  // Page sizes are rounded, and positions may be, too.
  if (x + width > size.width + 0.01 || y + height > size.height + 0.01)
    return [`it must fit on page ${page}, which is ${size.width} points wide and ${size.height} points high`];
  return [];
}

function placeOf({
  page,
  x,
  y,
  width,
  height,
}: FormRow): Pick<FieldRecord, 'page' | 'x' | 'y' | 'width' | 'height'> {
  return { page: Number(page), x: Number(x), y: Number(y), width: Number(width), height: Number(height) };
}

/** Returns the parts of a list that a person wrote, without blank and repeated ones. */
function distinct(text: string, separator: string): string[] {
  return [...new Set(text.split(separator).map((part) => part.trim()))].filter((part) => part !== '');
}

/**
 * Returns a readable field name for `--value FIELD=TEXT`. The number distinguishes it from names that pages and programs use themselves.
 */
function nameFor({ label, type }: FormRow, taken: ReadonlySet<string>): string {
  const words = label
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .slice(0, 40);
  const stem = words === '' ? type.toLowerCase() : words;
  let number = 1;
  while (taken.has(`${stem}_${number}`)) number += 1;
  return `${stem}_${number}`;
}

function isType(text: string): text is FieldType {
  return FIELD_TYPES.some((type) => type === text);
}
