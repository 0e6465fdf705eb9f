import * as z from 'zod/mini';
import { EFFECTS } from '../kernel/command-effects.ts';
import { tryParseJson } from '../kernel/json.ts';

/** The effect of a request, as shown by its path. */
const ACTIONS = ['create', 'send', 'cancel', 'remind', 'other'] as const;
export type LoggedAction = (typeof ACTIONS)[number];

const text = z.nullable(z.string());

/** What identifies a write, so that a later one can find it (log/write-keys.ts). Writes without a key are only listed. */
const key = z.optional(z.string());

/**
 * A write that is about to be sent. It is on disk before the request. If it was sent by this process at all, then before `until`.
 * An intent with the ID of an earlier one is another attempt of the same write.
 */
const intentSchema = z.object({
  type: z.literal('intent'),
  id: z.string(),
  /** Both by this machine's clock (ISO 8601). */
  at: z.string(),
  until: z.string(),
  /** By the service's clock, as far as it is known. */
  serviceAt: z.string(),
  key,
  /** A hash of the content of a create (`contentIdOf`). */
  content: z.optional(z.string()),
  /** A hash of everything that is sent, except the request ID. */
  body: z.optional(z.string()),
  action: z.enum(ACTIONS),
  effect: z.enum(EFFECTS),
  envelopeIds: z.array(z.string()),
  /** Null if it may contain an address. */
  requestId: text,
  /** Why an envelope is canceled, without addresses. The service doesn't return it. */
  reason: z.optional(z.string()),
  run: z.optional(z.string()),
  user: z.string(),
  profile: text,
  baseUrl: z.string(),
  /** Names the key's account at the base URL (`accountOf`). Two organizations may share a base URL. */
  account: z.string(),
  command: z.string(),
});

/**
 * The outcome of a write. A later record replaces an earlier one, because a request with a lost response may turn out to have
 * succeeded.
 * - `done`: the service confirmed it.
 * - `refused`: certainly not done: the service or a guard refused it, or it was never sent.
 * - `unknown`: the response was lost.
 * - `absent`: searched for until it must have been listed, and it isn't there; or its envelope doesn't exist anymore.
 */
const endSchema = z.object({
  type: z.enum(['done', 'refused', 'unknown', 'absent']),
  id: z.string(),
  at: z.string(),
  serviceAt: z.string(),
  key,
  action: z.optional(z.enum(ACTIONS)),
  envelopeIds: z.optional(z.array(z.string())),
  error: z.optional(text),
  /** Only for a bulk run. */
  counts: z.optional(z.record(z.string(), z.number())),
});

const recordSchema = z.discriminatedUnion('type', [intentSchema, endSchema]);
export type LogRecord = z.infer<typeof recordSchema>;
export type Intent = z.infer<typeof intentSchema>;
export type IntentEnd = z.infer<typeof endSchema>;

/** Returns the hashes by which a record is found. */
export function hashesOf(record: LogRecord): string[] {
  const hashes = record.type === 'intent' ? [record.key, record.body, record.content] : [record.key];
  return hashes.filter((hash) => hash !== undefined);
}

/** The zeros that a file system leaves where an append was lost in a power failure. */
const ZEROS = /^\0+|\0+$/g;

/** Returns a line of the log as a record, or undefined for anything else. Zeros around it are ignored. */
export function readRecord(line: string): LogRecord | undefined {
  return recordSchema.safeParse(tryParseJson(line.replace(ZEROS, ''))).data;
}
