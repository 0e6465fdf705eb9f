import * as z from 'zod';
import { UsageError } from '../kernel/errors.ts';
import { checkObject } from '../kernel/options.ts';
import { EVENTS } from '../kernel/vocabulary.ts';
import { ApiError } from './service/base/errors.ts';
import { oneOf, parseBody } from './service/base/validation.ts';

/* The arguments of a running sandbox's methods. In code without types, nothing else would detect a misspelled name. */

const text = z.string({ error: 'Must be a string' }).optional();
const duration = z
  .union([z.string(), z.number()], { error: 'Must be a duration or a number of ms' })
  .optional();

export const filters = {
  mails: z.strictObject({ to: text, envelope: text, wait: duration }),
  deliveries: z.strictObject({
    envelope: text,
    event: z.enum(EVENTS, { error: oneOf(EVENTS) }).optional(),
    wait: duration,
  }),
};

/** Returns a method's argument, or an empty object if it is missing. @throws UsageError naming the method and each wrong field. */
export function readArgument<T>(method: string, schema: z.ZodType<T>, given: unknown = {}): T {
  checkObject(method, given);
  try {
    return parseBody(schema, given);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const problems = Object.entries(error.details ?? {}).map(
      ([field, texts]) => `${field}: ${texts.join('; ')}`,
    );
    throw new UsageError(`The argument of ${method} is not valid. ${problems.join('. ')}`, { cause: error });
  }
}
