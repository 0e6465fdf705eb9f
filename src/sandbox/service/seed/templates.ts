import type { FieldRecord, PageSize, TemplateRecord } from '../../model.ts';
import type { SeedTemplate } from './schema.ts';
import { standIn } from './stand-ins.ts';

/** A4 in points, the size of the pages that the sandbox draws. */
const A4: PageSize = { width: 595, height: 842 };
/** The number of roles on a page, in two columns. */
const ROLES_ON_PAGE = 10;

/** Returns the template of a seed. Omitted properties are taken from an existing one with the same ID. */
export function seededTemplate(
  wanted: SeedTemplate,
  facts: { before: TemplateRecord | undefined; pages: PageSize[] | undefined; at: string },
): TemplateRecord {
  const { id, name, active = true } = wanted;
  const { before, pages, at } = facts;
  if (wanted.fields !== undefined && pages === undefined) return standIn(wanted, wanted.fields, facts);
  const kept = wanted.roles === undefined && pages === undefined ? before : undefined;
  if (kept) return { ...kept, name, active, updatedAt: at };
  const roles = wanted.roles ?? before?.roles ?? ['Signer'];
  const drawn = Math.ceil(roles.length / ROLES_ON_PAGE);
  return {
    id,
    name,
    description: wanted.description ?? '',
    pageCount: pages?.length ?? drawn,
    fields: roles.flatMap((role, index) => fieldsOf(role, index, pages ?? Array<PageSize>(drawn).fill(A4))),
    roles,
    active,
    createdAt: before?.createdAt ?? at,
    updatedAt: at,
    ...(pages === undefined ? {} : { upload: { orgId: null, pages } }),
  };
}

/**
 * Returns a signature and a date field for a role, in the lower part of a page. If there are many roles, they are distributed over several
 * pages.
 */
function fieldsOf(role: string, index: number, pages: PageSize[]): FieldRecord[] {
  const number = Math.min(
    pages.length,
    Math.ceil((index + 1) / ROLES_ON_PAGE) + Math.max(0, pages.length - 2),
  );
  const { width, height } = pages[number - 1] ?? A4;
  const place = index % ROLES_ON_PAGE;
  const column = width / 2;
  const row = height / (ROLES_ON_PAGE + 2);
  const x = (place % 2) * column + column * 0.12;
  const y = height * 0.4 + Math.floor(place / 2) * row;
  const common = { required: true, page: number, role, x: Math.round(x), height: Math.round(row * 0.42) };
  const prefix = `role${index + 1}`;
  return [
    {
      ...{ fieldId: `${prefix}_signature`, type: 'SIGNATURE', label: `Signature of ${role}` },
      ...{ ...common, y: Math.round(y), width: Math.round(column * 0.76) },
    },
    {
      ...{ fieldId: `${prefix}_date`, type: 'DATE', label: 'Date' },
      ...{ ...common, y: Math.round(y + row * 0.48), width: Math.round(column * 0.4) },
    },
  ];
}
