import { FIELD_TYPES, type FieldRecord, type TemplateRecord } from '../../model.ts';
import type { SeedTemplate } from './schema.ts';

/** A4 in points, the size of the pages that the sandbox draws. */
const A4 = { width: 595, height: 842 } as const;
/** The number of roles on a page, in two columns. */
const ROLES_ON_PAGE = 10;

/** Returns the template of a seed. Omitted properties are taken from an existing one with the same ID. */
export function seededTemplate(
  wanted: SeedTemplate,
  before: TemplateRecord | undefined,
  at: string,
): TemplateRecord {
  const { id, name, description = '', active = true } = wanted;
  const common = { id, name, description, active, createdAt: before?.createdAt ?? at, updatedAt: at };
  if (wanted.fields !== undefined) return { ...common, ...standIn(wanted, wanted.fields) };
  if (wanted.roles === undefined && before !== undefined) return { ...before, name, active, updatedAt: at };
  const roles = wanted.roles ?? ['Signer'];
  return {
    ...common,
    pageCount: Math.ceil(roles.length / ROLES_ON_PAGE),
    fields: roles.flatMap(fieldsOf),
    roles,
  };
}

/**
 * Returns a signature and a date field for a role, in the lower part of a page. If there are many roles, they are distributed over several
 * pages.
 */
function fieldsOf(role: string, index: number): FieldRecord[] {
  const place = index % ROLES_ON_PAGE;
  const column = A4.width / 2;
  const row = A4.height / (ROLES_ON_PAGE + 2);
  const x = Math.round((place % 2) * column + column * 0.12);
  const y = A4.height * 0.4 + Math.floor(place / 2) * row;
  const page = Math.ceil((index + 1) / ROLES_ON_PAGE);
  const common = { required: true, page, role, x, height: Math.round(row * 0.42) };
  const prefix = `role${index + 1}`;
  return [
    {
      fieldId: `${prefix}_signature`,
      type: 'SIGNATURE',
      label: `Signature of ${role}`,
      ...common,
      y: Math.round(y),
      width: Math.round(column * 0.76),
    },
    {
      fieldId: `${prefix}_date`,
      type: 'DATE',
      label: 'Date',
      ...common,
      y: Math.round(y + row * 0.48),
      width: Math.round(column * 0.4),
    },
  ];
}

type SeedField = NonNullable<SeedTemplate['fields']>[number];

/** The area for fields, in points: two columns below the title. The more fields there are, the smaller the row height. */
const AREA = { top: 222, bottom: 760, left: 64, columnWidth: 245, highestRow: 62 } as const;
const COLUMNS = 2;
const FIELD_WIDTH = 205;

/** Returns the fields and roles of another account's template. The sandbox draws its pages. */
function standIn(wanted: SeedTemplate, fields: readonly SeedField[]) {
  const roles = wanted.roles ?? rolesIn(fields);
  const pageCount = Math.max(wanted.pageCount ?? 1, ...fields.map(({ page }) => page));
  return { pageCount, fields: placed(fields, roles), roles, standIn: true };
}

function rolesIn(fields: readonly SeedField[]): string[] {
  const roles = [...new Set(fields.flatMap(({ role }) => role ?? []))];
  return roles.length === 0 ? ['Signer'] : roles;
}

function placed(fields: readonly SeedField[], roles: readonly string[]): FieldRecord[] {
  const onPage = new Map<number, number>();
  for (const { page } of fields) onPage.set(page, (onPage.get(page) ?? 0) + 1);
  const placedOnPage = new Map<number, number>();
  return fields.map((field, index) => {
    const nth = placedOnPage.get(field.page) ?? 0;
    placedOnPage.set(field.page, nth + 1);
    const rows = Math.ceil((onPage.get(field.page) ?? 1) / COLUMNS);
    const rowHeight = Math.min(AREA.highestRow, (AREA.bottom - AREA.top) / rows);
    const height = Math.max(4, Math.round(rowHeight * 0.5));
    const type = FIELD_TYPES.find((known) => known === field.type);
    const { fieldId, label, required, page } = field;
    return {
      fieldId,
      type: type ?? 'TEXT',
      label,
      required,
      page,
      role: roleOf(field, index, roles),
      x: AREA.left + (nth % COLUMNS) * AREA.columnWidth,
      y: Math.round(AREA.top + Math.floor(nth / COLUMNS) * rowHeight),
      width: type === 'CHECKBOX' ? height : FIELD_WIDTH,
      height,
      ...(type === 'DROPDOWN' ? { options: ['Yes', 'No'] } : {}),
      ...(type === undefined ? { shownType: field.type } : {}),
    };
  });
}

function roleOf({ role }: SeedField, index: number, roles: readonly string[]): string {
  if (role !== undefined && roles.includes(role)) return role;
  return roles[index % roles.length] ?? '';
}
