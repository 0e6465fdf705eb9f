import { FIELD_TYPES, type FieldRecord, type TemplateRecord } from '../../model.ts';
import type { SeedTemplate } from './schema.ts';

/** The area for fields, in points: two columns below the title. The more fields there are, the smaller the row height. */
const AREA = { top: 222, bottom: 760, left: 64, columnWidth: 245, highestRow: 62 } as const;
const COLUMNS = 2;
const FIELD_WIDTH = 205;
/** The number of roles on a page of a template without fields. */
const ROLES_ON_PAGE = 10;

type SeedField = NonNullable<SeedTemplate['fields']>[number];

/** Returns the template of a seed. Without roles and fields, those of an existing one with the same ID are kept. */
export function seededTemplate(
  wanted: SeedTemplate,
  before: TemplateRecord | undefined,
  at: string,
): TemplateRecord {
  const { id, name, description = '', active = true } = wanted;
  if (wanted.fields === undefined && wanted.roles === undefined && before !== undefined)
    return { ...before, name, active, updatedAt: at };
  const roles = wanted.roles ?? rolesIn(wanted.fields ?? []);
  const fields = placeFields(wanted.fields ?? roles.flatMap(fieldsOf), roles);
  const pageCount = Math.max(wanted.pageCount ?? 1, ...fields.map(({ page }) => page));
  const record = { id, name, description, active, createdAt: before?.createdAt ?? at, updatedAt: at };
  return { ...record, pageCount, fields, roles, ...(wanted.fields === undefined ? {} : { standIn: true }) };
}

/** Returns a signature and a date field for a role. */
function fieldsOf(role: string, index: number): SeedField[] {
  const common = { required: true, page: Math.floor(index / ROLES_ON_PAGE) + 1, role };
  const prefix = `role${index + 1}`;
  return [
    { fieldId: `${prefix}_signature`, type: 'SIGNATURE', label: `Signature of ${role}`, ...common },
    { fieldId: `${prefix}_date`, type: 'DATE', label: 'Date', ...common },
  ];
}

function rolesIn(fields: readonly SeedField[]): string[] {
  const roles = [...new Set(fields.flatMap(({ role }) => role ?? []))];
  return roles.length === 0 ? ['Signer'] : roles;
}

/** Returns the fields with positions on the pages, which the sandbox draws. */
function placeFields(fields: readonly SeedField[], roles: readonly string[]): FieldRecord[] {
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
