import * as z from 'zod';
import { DAY_MS } from '../../../kernel/duration.ts';
import type { ErrorDetails } from '../../../kernel/errors.ts';
import { isRecord } from '../../../kernel/json.ts';
import { ENVELOPE_STATUSES } from '../../../kernel/statuses.ts';
import { LIMITS, MAX_ADVANCE_DAYS, SCOPES, SIGNING_ORDERS } from '../../../kernel/vocabulary.ts';
import { invalidBody } from './errors.ts';

/** The sandbox's own maximum for expiresInDays, because Create envelope body doesn't specify one. */
const MAX_EXPIRY_DAYS = 365;
/** The maximum nesting depth of metadata. JSON can be nested more deeply than it can be serialized again. */
const MAX_METADATA_DEPTH = 32;

/** A part of an email address between dots, without invisible characters. */
const ATOM = '[^\\s@<>(),;:"\\[\\]\\\\\\p{Cc}\\p{Cf}.]+';
const EMAIL = new RegExp(
  `^(?=[^@]{1,64}@)${ATOM}(\\.${ATOM})*@(?!-)${ATOM}(?<!-)(\\.(?!-)${ATOM}(?<!-))+$`,
  'u',
);

export const textSchema = (most: number) =>
  z.string({ error: 'Must be a string' }).max(most, { error: `Must be at most ${most} characters` });
export const nonEmptyTextSchema = (what: string, most: number) =>
  z
    .string({ error: ({ input }) => (input === undefined ? `${what} is required` : 'Must be a string') })
    .max(most, { error: `Must be at most ${most} characters` })
    .refine((value) => value.trim() !== '', { error: `${what} is required` });
export const oneOf = (values: readonly string[]) => `Must be one of ${values.join(', ')}`;
export const wholeNumberSchema = (least: number, most: number) => {
  const error = `Must be a whole number from ${least} to ${most}`;
  return z.int({ error }).min(least, { error }).max(most, { error });
};

export const emailSchema = nonEmptyTextSchema('Email', 254).refine(
  (value) => value.trim() === '' || EMAIL.test(value),
  {
    error: 'Must be an email address',
  },
);

/** Any JSON object, used unchanged, because copying it key by key would lose `__proto__`. */
export const metadataSchema = z.custom<Record<string, unknown>>(
  (value) => isRecord(value) && isShallow(value),
  {
    error: ({ input }) =>
      isRecord(input) ? `Must not be nested deeper than ${MAX_METADATA_DEPTH} levels` : 'Must be an object',
  },
);

const NO_SIGNER = 'At least one signer is required';

const createSchema = z.strictObject({
  templateId: nonEmptyTextSchema('templateId', 200),
  signers: z
    .array(
      z.strictObject(
        {
          email: emailSchema,
          name: nonEmptyTextSchema('Name', 255),
          role: textSchema(200).optional(),
          order: wholeNumberSchema(0, 1_000_000).optional(),
        },
        { error: objectError },
      ),
      { error: ({ input }) => (input === undefined ? NO_SIGNER : 'Must be an array') },
    )
    .min(1, { error: NO_SIGNER })
    .max(LIMITS.signers, { error: `At most ${LIMITS.signers} signers are allowed` }),
  subject: textSchema(1000).optional(),
  message: textSchema(20_000).optional(),
  metadata: metadataSchema.optional(),
  webhookUrl: textSchema(2048).refine(isWebUrl, { error: 'Must be an http or https URL' }).optional(),
  webhookSecret: textSchema(1000)
    .min(LIMITS.webhookSecret, { error: `Must be at least ${LIMITS.webhookSecret} characters` })
    .optional(),
  expiresInDays: wholeNumberSchema(1, MAX_EXPIRY_DAYS).optional(),
  signingOrder: z.enum(SIGNING_ORDERS, { error: oneOf(SIGNING_ORDERS) }).optional(),
  sendImmediately: z.boolean({ error: 'Must be true or false' }).optional(),
});

/** A validated body of a create request (Create envelope body). */
export type CreateBody = z.infer<typeof createSchema>;

/** "A date, or never" (Authentication 6). A date means the start of that day in UTC. */
export const expirySchema = z.union(
  [z.iso.datetime({ offset: true }), z.iso.date(), z.literal('never').transform(() => null), z.null()],
  { error: 'Must be a date, an ISO 8601 timestamp, or never' },
);

export const bodySchemas = {
  create: createSchema,
  cancel: z.strictObject({ reason: textSchema(2000).optional() }),
  remind: z.strictObject({ signerId: nonEmptyTextSchema('signerId', 200).optional() }),
  controlSign: z.strictObject({
    signer: nonEmptyTextSchema('signer', 254).optional(),
    values: z.record(z.string(), z.union([z.string().max(5000), z.boolean(), z.number()])).optional(),
    all: z.boolean().optional(),
  }),
  controlView: z.strictObject({ signer: nonEmptyTextSchema('signer', 254).optional() }),
  controlDecline: z.strictObject({
    signer: nonEmptyTextSchema('signer', 254).optional(),
    reason: textSchema(2000).optional(),
  }),
  advance: z.strictObject({ ms: wholeNumberSchema(1, MAX_ADVANCE_DAYS * DAY_MS) }),
  /** Authentication 6; `orgId` creates or selects a second organization. */
  createKey: z.strictObject({
    name: nonEmptyTextSchema('Name', 200),
    description: textSchema(1000).optional(),
    scopes: z
      .array(z.enum(SCOPES, { error: oneOf(SCOPES) }), { error: 'At least one scope is required' })
      .min(1, { error: 'At least one scope is required' }),
    expiresAt: expirySchema.optional(),
    orgId: z
      .string()
      .regex(/^org_[A-Za-z0-9]{1,40}$/, { error: 'Must be org_ followed by up to 40 letters and digits' })
      .optional(),
  }),
};

/**
 * Validates a body. Throws VALIDATION_ERROR with `details` by dotted field name (Create envelope body). A missing body counts as an empty
 * object, so that the error names the required fields.
 */
export function parseBody<T>(schema: z.ZodType<T>, body: unknown = {}): T {
  if (!isRecord(body)) throw invalidBody({ body: ['Must be a JSON object'] });
  return parse(schema, body, 'The request body is not valid');
}

/** A whole number in a query. */
const digits = (least: number, most: number, error = `Must be a whole number from ${least} to ${most}`) =>
  z
    .string()
    .regex(/^[0-9]{1,15}$/, { error })
    .transform(Number)
    .refine((value) => value >= least && value <= most, { error })
    .optional();

const listSchema = z.object({
  page: digits(1, Number.MAX_SAFE_INTEGER, 'Must be a whole number of at least 1'),
  pageSize: digits(1, LIMITS.pageSize),
  status: z.enum(ENVELOPE_STATUSES, { error: oneOf(ENVELOPE_STATUSES) }).optional(),
});

interface ListQuery {
  page: number;
  pageSize: number;
  status: string | undefined;
}

/** Parses the pagination parameters and the status filter of the envelope list. Ignores anything else in the query. */
export function parseListQuery(query: Record<string, string>): ListQuery {
  const {
    page = 1,
    pageSize = LIMITS.defaultPageSize,
    status,
  } = parse(listSchema, query, 'The query is not valid');
  return { page, pageSize, status };
}

/** The maximum time, in ms, that a request can wait for an email. */
const MAX_WAIT_MS = 60_000;
const mailSchema = z.object({
  to: z.string().optional(),
  envelopeId: z.string().optional(),
  waitMs: digits(0, MAX_WAIT_MS),
});

/** Parses the filter for emails and how long to wait for one. Ignores anything else in the query. */
export function parseMailQuery(query: Record<string, string>): z.output<typeof mailSchema> {
  return parse(mailSchema, query, 'The query is not valid');
}

/** Returns the validated value. Throws VALIDATION_ERROR with the message and the problems. */
export function parse<T>(schema: z.ZodType<T>, value: unknown, message: string): T {
  const result = validate(schema, value);
  if ('details' in result) throw invalidBody(result.details, message);
  return result.data;
}

/** Returns the validated value, or the problems by dotted field name. */
export function validate<T>(schema: z.ZodType<T>, value: unknown): { data: T } | { details: ErrorDetails } {
  const result = schema.safeParse(value);
  if (result.success) return { data: result.data };
  const details = new Map<string, string[]>();
  const add = (path: PropertyKey[], text: string) => {
    const field = path.length === 0 ? 'body' : path.map(String).join('.');
    const known = details.get(field);
    if (!known) details.set(field, [text]);
    else if (!known.includes(text)) known.push(text);
  };
  for (const issue of result.error.issues) {
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) add([...issue.path, key], 'Unknown field');
    } else add(issue.path, issue.message);
  }
  return { details: Object.fromEntries(details) };
}

function isShallow(value: unknown, levels = MAX_METADATA_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((item) => isShallow(item, levels - 1));
}

function isWebUrl(value: string): boolean {
  return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}

function objectError({ code }: { code?: string }): string | undefined {
  return code === 'invalid_type' ? 'Must be an object' : undefined;
}
