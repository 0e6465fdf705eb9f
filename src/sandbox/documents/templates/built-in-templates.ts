import * as z from 'zod';
import { FIELD_TYPES, type TemplateRecord } from '../../model.ts';
import employment from './employment.json' with { type: 'json' };
import intake from './intake.json' with { type: 'json' };
import lease from './lease.json' with { type: 'json' };
import nda from './nda.json' with { type: 'json' };

/** A block of a page's text, from top to bottom. A clause's text is indented next to its number; `depth` 1 is for subclauses. */
const blockSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('title'), text: z.string(), subtitle: z.string() }),
  z.strictObject({ kind: z.enum(['heading', 'paragraph', 'note']), text: z.string() }),
  z.strictObject({
    kind: z.literal('clause'),
    number: z.string(),
    text: z.string(),
    depth: z.union([z.literal(0), z.literal(1)]).exactOptional(),
  }),
]);
export type TextBlock = z.infer<typeof blockSchema>;

/**
 * Text between two vertical positions on a page, in points from the top. Drawing fails if it doesn't fit. `x` and `width` are the column's
 * left edge and width; by default, the page's full text width.
 */
const regionSchema = z.strictObject({
  top: z.number(),
  bottom: z.number(),
  blocks: z.array(blockSchema),
  x: z.number().exactOptional(),
  width: z.number().exactOptional(),
});
export type Region = z.infer<typeof regionSchema>;

/** A built-in template: its record, and the text on its pages around the fields. */
interface BuiltInTemplate {
  record: TemplateRecord;
  /** The regions of each page. */
  pages: Region[][];
}

/** The creation time of the built-in templates, fixed so that it is the same in every sandbox. */
const MADE = '2025-03-03T09:00:00.000Z';

const templateSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  roles: z.array(z.string()),
  pages: z.array(z.array(regionSchema)),
  fields: z.array(
    z.strictObject({
      fieldId: z.string(),
      type: z.enum(FIELD_TYPES),
      label: z.string(),
      required: z.boolean(),
      page: z.number(),
      role: z.string(),
      x: z.number(),
      y: z.number(),
      width: z.number(),
      height: z.number(),
      options: z.array(z.string()).exactOptional(),
    }),
  ),
});

function builtIn(data: unknown): BuiltInTemplate {
  const { pages, ...about } = templateSchema.parse(data);
  return {
    record: { ...about, pageCount: pages.length, active: true, createdAt: MADE, updatedAt: MADE },
    pages,
  };
}

export const BUILT_IN: readonly BuiltInTemplate[] = [nda, lease, employment, intake].map(builtIn);
