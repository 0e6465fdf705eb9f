import * as z from 'zod/mini';
import { BadResponseError } from '../kernel/errors.ts';
import { isList, isRecord } from '../kernel/json.ts';
import type { Envelope, Signer, Template, TemplateField } from './resource-types.ts';

/*
 * The service's resources are read tolerantly: unknown fields are kept, any field but an ID may be missing or null, and no
 * enumeration (status, field type, code) is closed. API document: Resources and their fields.
 */
const text = z.optional(z.nullable(z.string()));
const count = z.optional(z.nullable(z.number()));
/** A schema that never changes the value. */
type Schema<T> = z.ZodMiniType<T, T>;

/** The document's IDs begin with a letter. One that began with a dash would be a flag in a command to copy. */
const id = z.string().check(z.regex(/^[^-]/));

export const templateFieldSchema: Schema<TemplateField> = z.looseObject({
  fieldId: text,
  type: text,
  label: text,
  required: z.optional(z.nullable(z.boolean())),
  page: count,
});

export const templateSchema: Schema<Template> = z.looseObject({
  id,
  name: text,
  description: text,
  pageCount: count,
  fields: z.optional(z.nullable(z.array(templateFieldSchema))),
  createdAt: text,
  updatedAt: text,
});

export const signerSchema: Schema<Signer> = z.looseObject({
  id: text,
  email: text,
  name: text,
  role: text,
  order: count,
  status: text,
  signedAt: text,
  declinedAt: text,
  declineReason: text,
});

export const envelopeSchema: Schema<Envelope> = z.looseObject({
  id,
  templateId: text,
  templateName: text,
  status: text,
  signingOrder: text,
  subject: text,
  message: text,
  signers: z.optional(z.nullable(z.array(signerSchema))),
  metadata: z.optional(z.nullable(z.record(z.string(), z.unknown()))),
  webhookUrl: text,
  expiresAt: text,
  createdAt: text,
  sentAt: text,
  completedAt: text,
  documentStorageKey: text,
  signedDocumentStorageKey: text,
  certificateStorageKey: text,
});

/** A response with a resource that can be named. */
export const namedResponseSchema = z.looseObject({ data: z.looseObject({ id }) });

/** The envelope of a response: `data`, and for lists also `meta.pagination`. */
export const resourceResponseSchema = z.looseObject({ data: z.unknown() });
export const listResponseSchema = z.looseObject({
  data: z.array(z.unknown()),
  meta: z.optional(
    z.nullable(
      z.looseObject({
        pagination: z.optional(
          z.nullable(z.looseObject({ total: z.optional(z.unknown()), totalPages: count })),
        ),
      }),
    ),
  ),
});
export const errorResponseSchema = z.looseObject({
  error: z.looseObject({
    code: z.string().check(z.minLength(1)),
    message: text,
    details: z.optional(z.unknown()),
  }),
});

/** Returns true if the value matches the schema. Use only with schemas that never change the value. */
export function matchesSchema<T>(schema: z.ZodMiniType<T, T>, value: unknown): value is T {
  return schema.safeParse(value).success;
}

/**
 * Returns an envelope as the service sent it, except for empty metadata that a service in PHP writes as a list.
 * @throws BadResponseError naming the first field that does not match.
 */
export function readEnvelope(value: unknown, what: string, status: number): Envelope {
  return readAs(envelopeSchema, withObjects(value), what, status);
}

/** Returns the envelope in a value, like `readEnvelope`; undefined for anything else. */
export function envelopeOf(value: unknown): Envelope | undefined {
  const envelope = withObjects(value);
  return matchesSchema(envelopeSchema, envelope) ? envelope : undefined;
}

function withObjects(value: unknown): unknown {
  if (!isRecord(value) || !isList(value.metadata) || value.metadata.length > 0) return value;
  return { ...value, metadata: {} };
}

/**
 * Returns the value unchanged (order of fields, unknown fields) if it matches the schema.
 * @throws BadResponseError naming the first field that does not match.
 */
export function readAs<T>(schema: z.ZodMiniType<T, T>, value: unknown, what: string, status: number): T {
  if (matchesSchema(schema, value)) return value;
  const issue = schema.safeParse(value).error?.issues[0];
  const where = issue?.path.join('.') || 'the response body';
  throw new BadResponseError(
    `The service did not return ${what}: ${where} is missing or doesn't match the API document.`,
    {
      status,
      hint: 'Check that the base URL points to the e-signature API: `esign profiles show`.',
    },
  );
}
