import * as z from 'zod';
import { FIELD_TYPES, type TemplateRecord } from '../../model.ts';
import { type Region, regionSchema } from './design.ts';
import employment from './employment.json' with { type: 'json' };
import intake from './intake.json' with { type: 'json' };
import lease from './lease.json' with { type: 'json' };
import nda from './nda.json' with { type: 'json' };

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
