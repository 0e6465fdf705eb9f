import * as z from 'zod/mini';
import { EFFECTS, type Effect } from '../kernel/vocabulary.ts';

/** The effect of a request, as shown by its path. */
const ACTIONS = ['create', 'send', 'cancel', 'remind', 'other'] as const;
export type LoggedAction = (typeof ACTIONS)[number];

/** `refused`: certainly not done. `unknown`: the response was lost, or the process ended before it arrived. */
const OUTCOMES = ['done', 'refused', 'unknown'] as const;
export type LoggedOutcome = (typeof OUTCOMES)[number];

const text = z.nullable(z.string());
const outcome = z.enum(OUTCOMES);
const counts = z.record(z.string(), z.number());

/** Written before the request. It has an outcome if a guard refused the write, because no request follows then. */
const beginSchema = z.looseObject({
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
const endSchema = z.looseObject({
  type: z.literal('end'),
  id: z.string(),
  outcome,
  error: text,
  envelopeIds: z.optional(z.array(z.string())),
  counts: z.optional(counts),
});
const recordSchema = z.discriminatedUnion('type', [beginSchema, endSchema]);
export type LogRecord = z.infer<typeof recordSchema>;
export type BeginRecord = z.infer<typeof beginSchema>;
export type EndRecord = z.infer<typeof endSchema>;

/** Returns a line of the log as a record, or undefined for anything else. */
export function readRecord(value: unknown): LogRecord | undefined {
  return recordSchema.safeParse(value).data;
}

/** A write as shown by `esign log`. */
export interface LogEntry {
  id: string;
  at: string;
  user: string;
  profile: string | null;
  baseUrl: string;
  command: string;
  effect: Effect;
  envelopeIds: readonly string[];
  requestId: string | null;
  outcome: LoggedOutcome;
  /** An error code. */
  error: string | null;
  /** Only for a bulk run. */
  run?: string;
  counts?: Record<string, number>;
}

/** An entry and its action, which is needed to undo it. */
export interface LoggedWrite {
  entry: LogEntry;
  action: LoggedAction;
}

/** Returns the entry of a write that was started. Its outcome is unknown until its end record is read. */
export function startedWrite(record: BeginRecord): LoggedWrite {
  const { id, at, user, profile, baseUrl, command, effect, envelopeIds, requestId, action, run } = record;
  const entry: LogEntry = {
    id,
    at,
    user,
    profile,
    baseUrl,
    command,
    effect,
    envelopeIds,
    requestId,
    outcome: record.outcome ?? 'unknown',
    error: record.error ?? null,
    ...(run === undefined ? {} : { run }),
  };
  return { entry, action };
}

/** Completes an entry with its end record. */
export function endWrite({ entry }: LoggedWrite, { outcome: ended, error, ...end }: EndRecord): void {
  entry.outcome = ended;
  entry.error = error;
  if (end.envelopeIds !== undefined) entry.envelopeIds = end.envelopeIds;
  if (end.counts !== undefined) entry.counts = end.counts;
}
