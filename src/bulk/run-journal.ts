import * as z from 'zod/mini';
import type { JournalFormat } from '../journal/journal.ts';

/** What a run is, written before its first request. */
export const runSchema = z.object({
  type: z.literal('run'),
  id: z.string(),
  /** ms since the epoch */
  at: z.number(),
  file: z.string(),
  baseUrl: z.string(),
  rows: z.number(),
  signers: z.number(),
  send: z.boolean(),
  oneStep: z.boolean(),
  /** Some rows have request ids of their own, so that an earlier run may have created them. */
  ownIds: z.boolean(),
});
export type RunHead = z.infer<typeof runSchema>;

const rowNumber = z.number();
const entrySchema = z.discriminatedUnion('type', [
  runSchema,
  /** Before its creation is asked for. */
  z.object({ type: z.literal('asked'), row: rowNumber }),
  /** The envelope is there; a draft when it is to be sent in a second step. */
  z.object({ type: z.literal('created'), row: rowNumber, envelopeId: z.string(), status: z.string() }),
  z.object({ type: z.literal('sent'), row: rowNumber, envelopeId: z.string(), status: z.string() }),
  z.object({
    type: z.literal('failed'),
    row: rowNumber,
    code: z.string(),
    message: z.string(),
    envelopeId: z.optional(z.string()),
  }),
  z.object({ type: z.literal('stopped'), at: z.number(), code: z.string() }),
  z.object({ type: z.literal('finished'), at: z.number() }),
]);
export type RunEntry = z.infer<typeof entrySchema>;

export const RUN_FORMAT: JournalFormat<RunEntry> = {
  kind: 'bulk-run',
  version: 1,
  read: (value) => {
    const entry = entrySchema.safeParse(value);
    return entry.success ? entry.data : undefined;
  },
};

/** Where a row stands by its journal. */
export interface RowState {
  /** asked: it may or may not have been created; created: still to be sent. */
  stage: 'asked' | 'created' | 'done' | 'failed';
  envelopeId: string | undefined;
  status: string | undefined;
  error: { code: string; message: string } | undefined;
}

/** What the journal of a run says, added up. */
export class RunState {
  head: RunHead | undefined;
  readonly rows = new Map<number, RowState>();
  done = 0;
  failed = 0;
  ended: 'finished' | 'stopped' | undefined;

  take(entry: RunEntry): void {
    if (entry.type === 'run') this.head = entry;
    else if (entry.type === 'finished' || entry.type === 'stopped') this.ended = entry.type;
    else this.#takeRow(entry);
  }

  #takeRow(entry: Exclude<RunEntry, { type: 'run' | 'finished' | 'stopped' }>): void {
    const before = this.rows.get(entry.row);
    this.#count(before, -1);
    const state: RowState = {
      stage: this.#stageOf(entry),
      envelopeId: 'envelopeId' in entry ? entry.envelopeId : before?.envelopeId,
      status: 'status' in entry ? entry.status : before?.status,
      error: entry.type === 'failed' ? { code: entry.code, message: entry.message } : undefined,
    };
    this.rows.set(entry.row, state);
    this.#count(state, 1);
    this.ended = undefined;
  }

  #stageOf(entry: RunEntry): RowState['stage'] {
    if (entry.type === 'asked') return 'asked';
    if (entry.type === 'failed') return 'failed';
    if (entry.type === 'sent') return 'done';
    const isDraft = entry.type === 'created' && entry.status === 'DRAFT';
    return this.head?.send && isDraft ? 'created' : 'done';
  }

  #count(state: RowState | undefined, by: number): void {
    if (state?.stage === 'done') this.done += by;
    if (state?.stage === 'failed') this.failed += by;
  }
}
