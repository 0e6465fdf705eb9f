import type { FieldType, TemplateField, TemplateRecord } from '../../model.ts';

/** A piece of a page's text, from top to bottom. */
export type Block =
  | { kind: 'title'; text: string; subtitle: string }
  | { kind: 'heading'; text: string }
  | { kind: 'paragraph'; text: string }
  /** A numbered clause; the text hangs beside its number. `depth` 1 is for its sub-clauses. */
  | { kind: 'clause'; number: string; text: string; depth?: 0 | 1 }
  | { kind: 'note'; text: string };

/** Text between two heights of a page, in points from the top. Drawing fails when it does not fit. */
export interface Region {
  top: number;
  bottom: number;
  blocks: Block[];
  /** Where the column starts and how wide it is; the page's whole measure when absent. */
  x?: number;
  width?: number;
}

/** A template that comes with the sandbox: its record, and what its pages say around the fields. */
export interface BuiltInTemplate {
  record: TemplateRecord;
  /** One list per page. */
  pages: Region[][];
}

/** The page all templates share: A4 with these margins. */
export const PAGE = { left: 64, right: 531, width: 467, top: 62, bottom: 776 } as const;

/** Two columns with a gutter. */
export const COLUMN = { width: 222, second: 309 } as const;

/** When the built-in templates were made; fixed, so that two sandboxes agree. */
const MADE = '2025-03-03T09:00:00.000Z';

/** Makes a template record whose page count and roles follow from its parts. */
export function builtIn(
  about: Pick<TemplateRecord, 'id' | 'name' | 'description' | 'roles'>,
  pages: Region[][],
  fields: TemplateField[],
): BuiltInTemplate {
  return {
    record: { ...about, pageCount: pages.length, fields, active: true, createdAt: MADE, updatedAt: MADE },
    pages,
  };
}

export interface Place {
  page: number;
  x: number;
  y: number;
  width?: number;
  height?: number;
  options?: string[];
  optional?: boolean;
}

const SIZES: Readonly<Record<FieldType, { width: number; height: number }>> = {
  SIGNATURE: { width: COLUMN.width, height: 58 },
  INITIALS: { width: 64, height: 26 },
  DATE: { width: 104, height: 22 },
  TEXT: { width: COLUMN.width, height: 22 },
  CHECKBOX: { width: 12, height: 12 },
  DROPDOWN: { width: COLUMN.width, height: 22 },
};

/** A field of a role at its type's usual size. */
export function field(
  role: string,
  fieldId: string,
  type: FieldType,
  label: string,
  place: Place,
): TemplateField {
  const { page, x, y, width, height, options, optional } = place;
  const size = SIZES[type];
  return {
    fieldId,
    type,
    label,
    required: optional !== true,
    page,
    role,
    x,
    y,
    width: width ?? size.width,
    height: height ?? size.height,
    ...(options === undefined ? {} : { options }),
  };
}

/** Signature above, printed name and date below it: 58 + 34 + 22 points high, one column wide. */
export function signatureBlock(
  role: string,
  prefix: string,
  place: Pick<Place, 'page' | 'x' | 'y'>,
): TemplateField[] {
  const { page, x, y } = place;
  return [
    field(role, `${prefix}_signature`, 'SIGNATURE', 'Signature', { page, x, y }),
    field(role, `${prefix}_name`, 'TEXT', 'Name in print', {
      page,
      x,
      y: y + 78,
      width: 140,
      optional: true,
    }),
    field(role, `${prefix}_date`, 'DATE', 'Date', { page, x: x + 150, y: y + 78, width: 72 }),
  ];
}
