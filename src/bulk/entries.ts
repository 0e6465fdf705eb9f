import * as z from 'zod/mini';
import type { JournalFormat } from '../journal/scan.ts';

/** How a run makes envelopes: left as drafts, drafts that are then sent, or sent at their creation. */
const MODES = ['draft', 'two-step', 'one-step'] as const;
export type Mode = (typeof MODES)[number];

const errorSchema = z.object({
  code: z.string(),
  message: z.string(),
  status: z.nullable(z.number()),
  details: z.nullable(z.record(z.string(), z.array(z.string()))),
});
/** Why a row failed, as the service or the network said. */
export type RowError = z.infer<typeof errorSchema>;

const headSchema = z.object({
  type: z.literal('run'),
  id: z.string(),
  /** ms since the epoch */
  at: z.number(),
  file: z.string(),
  total: z.number(),
  signers: z.number(),
  mode: z.enum(MODES),
  baseUrl: z.string(),
  profile: z.nullable(z.string()),
  fingerprint: z.string(),
  ownRequestIds: z.number(),
});
/** What a run is: the first entry of its journal. */
export type RunHead = z.infer<typeof headSchema>;

const requestId = z.optional(z.string());
const entrySchema = z.discriminatedUnion('type', [
  headSchema,
  /** Envelopes that carry request ids of the file were looked for. */
  z.object({ type: z.literal('looked') }),
  /** Written before the first request for any of these rows. */
  z.object({ type: z.literal('creating'), from: z.number(), to: z.number(), at: z.number() }),
  z.object({ type: z.literal('created'), row: z.number(), id: z.string(), requestId }),
  z.object({ type: z.literal('done'), row: z.number(), id: z.string(), status: z.string(), requestId }),
  z.object({
    type: z.literal('failed'),
    row: z.number(),
    id: z.optional(z.string()),
    error: errorSchema,
    requestId,
  }),
  /** The runner stopped in good order: of the rows announced and not settled only these may exist. */
  z.object({ type: z.literal('stopped'), maybe: z.array(z.number()) }),
  /** A second draft of a row was found and cancelled. */
  z.object({ type: z.literal('cancelled'), id: z.string() }),
  z.object({ type: z.literal('finished'), at: z.number() }),
]);
export type Entry = z.infer<typeof entrySchema>;

/** The journal of a run. */
export const RUN_FORMAT: JournalFormat<Entry> = {
  kind: 'bulk',
  version: 1,
  read: (value) => {
    const entry = entrySchema.safeParse(value);
    return entry.success ? entry.data : undefined;
  },
};
