import * as z from 'zod';

/** A piece of a page's text, from top to bottom. A clause's text hangs beside its number; `depth` 1 is for sub-clauses. */
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
 * Text between two heights of a page, in points from the top. Drawing fails when it does not fit. `x` and `width`: where
 * the column starts and how wide it is; the page's whole measure when absent.
 */
export const regionSchema = z.strictObject({
  top: z.number(),
  bottom: z.number(),
  blocks: z.array(blockSchema),
  x: z.number().exactOptional(),
  width: z.number().exactOptional(),
});
export type Region = z.infer<typeof regionSchema>;

/** The page all templates share: A4 with these margins. */
export const PAGE = { left: 64, right: 531, width: 467, top: 62, bottom: 776 } as const;
