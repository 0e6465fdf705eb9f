import { FIELD_TYPES, type FieldRecord, type FieldType, type TemplateRecord } from '../../model.ts';
import type { SeedTemplate } from './schema.ts';

type SeedField = NonNullable<SeedTemplate['fields']>[number];

/** The area for fields, in points: two columns below the title. The more fields there are, the smaller the row height. */
const AREA = { top: 222, bottom: 760, left: 64, columnWidth: 245, highestRow: 62 } as const;
const COLUMNS = 2;
const FIELD_WIDTH = 205;

/** Returns a template with the fields and roles of another account's template, and pages drawn by the sandbox. */
export function standIn(
  wanted: SeedTemplate,
  fields: readonly SeedField[],
  { before, at }: { before: TemplateRecord | undefined; at: string },
): TemplateRecord {
  const { id, name, description = '', active = true } = wanted;
  const roles = wanted.roles ?? rolesIn(fields);
  const lastPage = Math.max(1, ...fields.map(({ page }) => page));
  return {
    id,
    name,
    description,
    pageCount: Math.max(wanted.pageCount ?? 1, lastPage),
    fields: placed(fields, roles),
    roles,
    active,
    createdAt: before?.createdAt ?? at,
    updatedAt: at,
    standIn: true,
  };
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
    const type = knownType(field.type);
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

function knownType(type: string): FieldType | undefined {
  return FIELD_TYPES.find((known) => known === type);
}

function roleOf({ role }: SeedField, index: number, roles: readonly string[]): string {
  if (role !== undefined && roles.includes(role)) return role;
  return roles[index % roles.length] ?? '';
}
