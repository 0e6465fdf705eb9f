import * as z from 'zod';
import { writtenTime } from '../../../kernel/clock.ts';
import { parseDuration } from '../../../kernel/duration.ts';
import { ENVELOPE_STATUSES } from '../../../kernel/statuses.ts';
import { SCOPES } from '../../../kernel/vocabulary.ts';
import type { SandboxSeed } from '../../embed-options.ts';
import { MAX_PAGES, SIGNER_STATUSES } from '../../model.ts';
import {
  emailSchema,
  expirySchema,
  metadataSchema,
  nonEmptyTextSchema,
  oneOf,
  parseBody,
  textSchema,
} from '../base/validation.ts';

/** The format of IDs, which become parts of paths and storage keys. */
const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

const id = nonEmptyTextSchema('id', 64).refine((value) => value.trim() === '' || ID.test(value), {
  error: 'Must be at most 64 letters, digits, _, and -',
});
const name = (most: number) => nonEmptyTextSchema('name', most);
const listOf = <T extends z.ZodType>(item: T) => z.array(item, { error: 'Must be a list' });
const object = <T extends z.core.$ZodLooseShape>(shape: T) =>
  z.strictObject(shape, {
    error: ({ code }) => (code === 'invalid_type' ? 'Must have names and values' : undefined),
  });
const time = textSchema(40).refine(
  (value) => {
    const age = parseDuration(value);
    const at = age === undefined ? writtenTime(value) : Date.now() - age;
    return at > Date.UTC(1900, 0) && at < Date.UTC(3000, 0);
  },
  { error: 'Must be a date, an ISO 8601 timestamp, or an age, such as 9d' },
);

/** The format of a seed. */
export const seedSchema = object({
  templates: listOf(
    object({
      id,
      name: name(200),
      roles: listOf(nonEmptyTextSchema('role', 200))
        .min(1, { error: 'At least one role' })
        .max(20, { error: 'At most 20 roles', abort: true })
        .superRefine((roles, context) => {
          for (const [index, role] of roles.entries())
            if (roles.indexOf(role) < index)
              context.addIssue({ code: 'custom', path: [index], message: `${role} is listed twice` });
        })
        .optional(),
      active: z.boolean({ error: 'Must be true or false' }).optional(),
      description: textSchema(2_000).optional(),
      pageCount: z.int({ error: 'Must be a whole number' }).min(1).max(MAX_PAGES).optional(),
      fields: listOf(
        object({
          fieldId: nonEmptyTextSchema('fieldId', 200),
          type: nonEmptyTextSchema('type', 100),
          label: textSchema(500),
          required: z.boolean({ error: 'Must be true or false' }),
          page: z.int({ error: 'Must be a whole number' }).min(1).max(MAX_PAGES),
          role: nonEmptyTextSchema('role', 200).optional(),
        }),
      )
        .max(2_000, { error: 'At most 2,000 fields' })
        .optional(),
    }),
  ).optional(),
  keys: listOf(
    object({
      organisation: id.optional(),
      scopes: listOf(z.enum(SCOPES, { error: oneOf(SCOPES) }))
        .min(1, { error: 'At least one scope' })
        .optional(),
      expiresAt: expirySchema.optional(),
    }),
  ).optional(),
  envelopes: listOf(
    object({
      id,
      template: id.optional(),
      organisation: id.optional(),
      status: z.enum(ENVELOPE_STATUSES, { error: oneOf(ENVELOPE_STATUSES) }).optional(),
      subject: textSchema(1000).optional(),
      metadata: metadataSchema.optional(),
      createdAt: time.optional(),
      signers: listOf(
        object({
          email: emailSchema.optional(),
          name: name(255),
          role: textSchema(200).optional(),
          status: z.enum(SIGNER_STATUSES, { error: oneOf(SIGNER_STATUSES) }).optional(),
        }),
      )
        .min(1, { error: 'At least one signer' })
        .max(20, { error: 'At most 20 signers' })
        .optional(),
    }),
  ).optional(),
}) satisfies z.ZodType<SandboxSeed>;

export type CheckedSeed = z.output<typeof seedSchema>;
export type SeedTemplate = NonNullable<CheckedSeed['templates']>[number];
export type SeedEnvelope = NonNullable<CheckedSeed['envelopes']>[number];
export type SeedSigner = NonNullable<SeedEnvelope['signers']>[number];

/** Parses a posted seed. Throws VALIDATION_ERROR. */
export function parseSeedBody(body: unknown): CheckedSeed {
  return parseBody(seedSchema, body);
}
