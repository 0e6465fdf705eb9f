import * as z from 'zod';

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
export type Block = z.infer<typeof blockSchema>;

/**
 * Text between two vertical positions on a page, in points from the top. Drawing fails if it doesn't fit. `x` and `width` are the column's
 * left edge and width; by default, the page's full text width.
 */
export const regionSchema = z.strictObject({
  top: z.number(),
  bottom: z.number(),
  blocks: z.array(blockSchema),
  x: z.number().exactOptional(),
  width: z.number().exactOptional(),
});
export type Region = z.infer<typeof regionSchema>;

/** The page layout of all templates: A4 with these margins. */
export const PAGE = { left: 64, right: 531, width: 467, top: 62, bottom: 776 } as const;
