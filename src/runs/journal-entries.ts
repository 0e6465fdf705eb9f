import * as z from 'zod/mini';
import type { JournalFormat } from '../lines/scan.ts';

/** How a run creates envelopes: as drafts only, or as drafts that are then sent. */
const MODES = ['draft', 'two-step'] as const;
export type RunMode = (typeof MODES)[number];

const errorSchema = z.object({
  code: z.string(),
  message: z.string(),
  status: z.nullable(z.number()),
  details: z.nullable(z.record(z.string(), z.array(z.string()))),
});
/** Why a row failed, as reported by the service or the network. */
export type RowError = z.infer<typeof errorSchema>;

const sourceSchema = z.object({
  format: z.enum(['csv', 'jsonl', 'xlsx']),
  encoding: z.string(),
  sheet: z.optional(z.string()),
  /** The paths of the columns that were sent. Others may be added to the file later. */
  columns: z.optional(z.array(z.string())),
});
/** How a source file is written. */
export type SourceFormat = z.infer<typeof sourceSchema>;

const headSchema = z.object({
  type: z.literal('run'),
  id: z.string(),
  /** By the service's clock, in ms since the epoch. */
  at: z.number(),
  file: z.string(),
  total: z.number(),
  mode: z.enum(MODES),
  baseUrl: z.string(),
  profile: z.nullable(z.string()),
  /** How the source file was written, so that its rows can be recognized later. */
  source: sourceSchema,
});
/** The first entry of a run's journal, which describes the run. */
export type RunHead = z.infer<typeof headSchema>;

/** Line in the file, request ID, and hash of the cells. */
const rowKeysSchema = z.tuple([z.number(), z.string(), z.string()]);
export type RowKeys = z.infer<typeof rowKeysSchema>;

const row = z.number();
const id = z.string();

const entrySchema = z.discriminatedUnion('type', [
  headSchema,
  /** Keys of the rows, starting at row `from`. Written before the first request. */
  z.object({ type: z.literal('rows'), from: z.number(), rows: z.array(rowKeysSchema) }),
  /** Only rows up to this one are created and sent (`--first`). Written before the first request for any of them. */
  z.object({ type: z.literal('upTo'), row, at: z.number() }),
  /** Another process continues the run. */
  z.object({ type: z.literal('resumed'), at: z.number() }),
  /** The row has a draft. `taken`: this run didn't create it. */
  z.object({ type: z.literal('reserved'), row, id, taken: z.optional(z.boolean()) }),
  /** Someone else created the envelope of the row, or the row has the same content as an earlier one (`sameAs`, its line). */
  z.object({
    type: z.literal('existing'),
    row,
    id: z.optional(z.string()),
    status: z.optional(z.string()),
    /** The parts of the wording in which it differs from the row. */
    changed: z.optional(z.array(z.string())),
    sameAs: z.optional(z.number()),
  }),
  z.object({ type: z.literal('done'), row, id, status: z.string() }),
  z.object({ type: z.literal('failed'), row, error: errorSchema, id: z.optional(z.string()) }),
  /**
   * A process has stopped the work, and has no request under way. `machine`: where it ran, and since when. `lost`: a response was lost.
   */
  z.object({ type: z.literal('stopped'), machine: z.string(), lost: z.boolean() }),
  z.object({ type: z.literal('finished'), at: z.number() }),
  /** The run has ended: no row is created or sent anymore. `by`: the run that continues its list. */
  z.object({ type: z.literal('ended'), at: z.number(), by: z.optional(z.string()) }),
]);
export type RunEntry = z.infer<typeof entrySchema>;

export const RUN_FORMAT: JournalFormat<RunEntry> = {
  kind: 'bulk',
  version: 2,
  read: (value) => entrySchema.safeParse(value).data,
};
