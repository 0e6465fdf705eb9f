import * as z from 'zod/mini';
import type { JournalFormat } from '../journal/scan.ts';

/** How a run creates envelopes: as drafts only, or as drafts that are then sent. */
const MODES = ['draft', 'two-step'] as const;
export type Mode = (typeof MODES)[number];

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
export type SourceFacts = z.infer<typeof sourceSchema>;

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
  ownRequestIds: z.number(),
  /** How the source file was written, so that its rows can be recognized later. */
  source: sourceSchema,
});
/** The first entry of a run's journal, which describes the run. */
export type RunHead = z.infer<typeof headSchema>;

const requestId = z.optional(z.string());
/** Line in the file, hash of what is sent and to whom, hash of the cells, and the row's own request ID. */
const rowKeysSchema = z.tuple([z.number(), z.string(), z.string(), z.nullable(z.string())]);
export type RowKeys = z.infer<typeof rowKeysSchema>;

const entrySchema = z.discriminatedUnion('type', [
  headSchema,
  /** Keys of the rows, starting at row `from`. Written before the first request. */
  z.object({ type: z.literal('rows'), from: z.number(), rows: z.array(rowKeysSchema) }),
  /** Only rows up to this one are created and sent (`--first`). Written before the first request for any of them. */
  z.object({ type: z.literal('upTo'), row: z.number(), at: z.number() }),
  /** Another process continues the run. */
  z.object({ type: z.literal('resumed'), at: z.number() }),
  z.object({
    type: z.literal('created'),
    row: z.number(),
    id: z.string(),
    requestId,
    /** The draft was not created by this run. */
    adopted: z.optional(z.boolean()),
    /** It was created before the list had been searched, so the row may have another envelope. */
    unchecked: z.optional(z.boolean()),
  }),
  /** An earlier run created an envelope for the same row, so this one does not. */
  z.object({
    type: z.literal('existing'),
    row: z.number(),
    id: z.string(),
    status: z.optional(z.string()),
    requestId,
  }),
  z.object({ type: z.literal('done'), row: z.number(), id: z.string(), status: z.string(), requestId }),
  z.object({
    type: z.literal('failed'),
    row: z.number(),
    error: errorSchema,
    requestId,
  }),
  z.object({ type: z.literal('finished'), at: z.number() }),
  /** The user ended the run: no row is created or sent anymore. */
  z.object({ type: z.literal('ended'), at: z.number() }),
]);
export type RunEntry = z.infer<typeof entrySchema>;

export const RUN_FORMAT: JournalFormat<RunEntry> = {
  kind: 'bulk',
  version: 1,
  read: (value) => entrySchema.safeParse(value).data,
};
