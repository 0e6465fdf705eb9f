import * as z from 'zod/mini';
import { EFFECTS } from '../kernel/vocabulary.ts';

/** The effect of a request, as shown by its path. */
const ACTIONS = ['create', 'send', 'cancel', 'remind', 'other'] as const;
export type LoggedAction = (typeof ACTIONS)[number];

/** `refused`: certainly not done. `unknown`: the response was lost, or the process ended before it arrived. */
const outcome = z.enum(['done', 'refused', 'unknown']);
const text = z.nullable(z.string());

/** Written before the request. It has an outcome if a guard refused the write, because no request follows then. */
const beginSchema = z.object({
  type: z.literal('begin'),
  id: z.string(),
  at: z.string(),
  user: z.string(),
  profile: text,
  baseUrl: z.string(),
  command: z.string(),
  effect: z.enum(EFFECTS),
  action: z.enum(ACTIONS),
  envelopeIds: z.array(z.string()),
  requestId: text,
  run: z.optional(z.string()),
  outcome: z.optional(outcome),
  error: z.optional(text),
});
/**
 * Written after the request. A later record replaces an earlier one, because a request with a lost response may turn out to have
 * succeeded.
 */
const endSchema = z.object({
  type: z.literal('end'),
  id: z.string(),
  outcome,
  error: text,
  envelopeIds: z.optional(z.array(z.string())),
  /** Only for a bulk run. */
  counts: z.optional(z.record(z.string(), z.number())),
});
const recordSchema = z.discriminatedUnion('type', [beginSchema, endSchema]);
export type LogRecord = z.infer<typeof recordSchema>;
export type BeginRecord = z.infer<typeof beginSchema>;
export type EndRecord = z.infer<typeof endSchema>;

/** Returns a line of the log as a record, or undefined for anything else. */
export function readRecord(value: unknown): LogRecord | undefined {
  return recordSchema.safeParse(value).data;
}

/** A write as shown by `esign log`: what is known of it before the request and after it. `error` is an error code. */
export type LogEntry = Omit<BeginRecord, 'type' | 'action' | 'outcome' | 'error'> &
  Omit<EndRecord, 'type' | 'envelopeIds'>;

/** An entry and its action. */
export interface LoggedWrite {
  entry: LogEntry;
  action: LoggedAction;
}

/** Returns the entry of a write that was started. Its outcome is unknown until its end record is read. */
export function startedWrite(record: BeginRecord): LoggedWrite {
  const { type: _, action, run, outcome: known = 'unknown', error = null, ...facts } = record;
  return { entry: { ...facts, outcome: known, error, ...(run !== undefined && { run }) }, action };
}

export function endWrite({ entry }: LoggedWrite, { type: _, ...end }: EndRecord): void {
  Object.assign(entry, end);
}
