import * as z from 'zod/mini';
import type { NewEnvelope } from '../envelopes/create.ts';
import { isEmailAddress } from '../envelopes/signer-mailbox.ts';
import { nearest } from '../kernel/nearest.ts';
import { LIMITS, SIGNING_ORDERS } from '../kernel/vocabulary.ts';

/** One row of the file: one envelope. */
export interface BulkRow {
  /** Counted from 1, without the header. */
  row: number;
  /** Where it starts in the file, from 1. */
  line: number;
  requestId: string;
  envelope: NewEnvelope;
}

/** Something wrong with the file: where, what, and how to mend it. */
export interface Problem {
  line: number;
  /** Column of a CSV file or path in a JSON row; undefined for the row as a whole. */
  column: string | undefined;
  message: string;
}

const signerSchema = z.strictObject({
  email: z.string().check(z.refine(isEmailAddress)),
  name: z.optional(z.string()),
  role: z.optional(z.string().check(z.minLength(1))),
  order: z.optional(z.int().check(z.minimum(0))),
});

/** A create body as in the API, plus requestId. Source: Create envelope body. */
const rowSchema = z.strictObject({
  templateId: z.optional(z.string().check(z.minLength(1))),
  signers: z.array(signerSchema).check(z.minLength(1), z.maxLength(LIMITS.signers)),
  subject: z.optional(z.string()),
  message: z.optional(z.string()),
  metadata: z.optional(z.record(z.string(), z.unknown())),
  webhookUrl: z.optional(z.url()),
  expiresInDays: z.optional(z.int().check(z.minimum(1))),
  signingOrder: z.optional(z.enum(SIGNING_ORDERS)),
  requestId: z.optional(z.string().check(z.minLength(1), z.maxLength(200))),
});

const KEYS = Object.keys(rowSchema.def.shape);
const SIGNER_KEYS = Object.keys(signerSchema.def.shape);

export interface CheckedRow {
  requestId: string | undefined;
  envelope: NewEnvelope;
}

/** A row's value as an envelope to be, or what is wrong with it: pairs of path and sentence. */
export function checkRow(
  value: unknown,
  defaultTemplate: string | undefined,
): { row: CheckedRow } | { problems: [string | undefined, string][] } {
  const parsed = rowSchema.safeParse(value);
  if (!parsed.success) return { problems: parsed.error.issues.flatMap((issue) => explain(issue)) };
  const { requestId, templateId = defaultTemplate, signers, ...rest } = parsed.data;
  if (templateId === undefined)
    return { problems: [['templateId', 'is missing; give it here, or for all rows with --template']] };
  const named = signers.map((signer) => ({
    email: signer.email,
    name: signer.name?.trim() || signer.email,
    ...(signer.role === undefined ? {} : { role: signer.role }),
    ...(signer.order === undefined ? {} : { order: signer.order }),
  }));
  return { row: { requestId, envelope: { ...rest, templateId, signers: named } } };
}

function explain(issue: z.core.$ZodIssue): [string | undefined, string][] {
  const path = issue.path.join('.') || undefined;
  if (issue.code === 'unrecognized_keys') {
    const known = issue.path.length > 0 ? SIGNER_KEYS : KEYS;
    return issue.keys.map((key) => [[...issue.path, key].join('.'), unknownKey(key, known)]);
  }
  return [[path, `${sentence(issue)}`]];
}

/** `is unknown; did you mean subject?` */
export function unknownKey(key: string, known: readonly string[]): string {
  if (key === 'webhookSecret') return 'is kept out of files; give it with --webhook-secret-file';
  if (key === 'sendImmediately') return 'is decided for all rows with --send';
  const meant = nearest(key, known);
  return meant === undefined
    ? `is unknown; there are ${known.join(', ')}`
    : `is unknown; did you mean ${meant}?`;
}

function sentence(issue: z.core.$ZodIssue): string {
  const last = issue.path.at(-1);
  if (last === 'signers' && issue.code === 'too_small')
    return 'is empty; an envelope needs at least one signer';
  if (last === 'signers' && issue.code === 'too_big') return `has more than ${LIMITS.signers} signers`;
  if (last === 'email') return 'is missing or not an email address; write it like ada@example.com';
  if (last === 'signingOrder') return `is neither ${SIGNING_ORDERS.join(' nor ')}`;
  if (issue.code === 'invalid_type') return `is not ${article(issue.expected)}`;
  if (last === 'expiresInDays' || last === 'order') return 'is not a whole number that makes sense here';
  return issue.code === 'too_small' ? 'is empty' : 'is not valid';
}

function article(type: string): string {
  const word = type === 'int' ? 'whole number' : type;
  return /^[aeiou]/.test(word) ? `an ${word}` : `a ${word}`;
}
