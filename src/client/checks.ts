import { UsageError } from '../kernel/errors.ts';
import { isRecord } from '../kernel/json.ts';
import {
  checkNumber,
  checkObject,
  checkOptionNames,
  checkType,
  kindOf,
  type OptionNames,
} from '../kernel/options.ts';
import { LIMITS } from '../kernel/vocabulary.ts';
import type { NewEnvelope, NewSigner } from './model.ts';

const ENVELOPE_FIELDS = {
  templateId: true,
  signers: true,
  subject: true,
  message: true,
  metadata: true,
  webhookUrl: true,
  webhookSecret: true,
  expiresInDays: true,
  signingOrder: true,
  send: true,
} as const satisfies OptionNames<NewEnvelope>;
const SIGNER_FIELDS = {
  email: true,
  name: true,
  role: true,
  order: true,
} as const satisfies OptionNames<NewSigner>;

/**
 * Refuses the data of a new envelope if a field is unknown, or if the template or the signers are missing.
 * @throws UsageError naming the field.
 */
export function checkNewEnvelope(envelope: NewEnvelope): void {
  checkOptionNames('envelopes.create', envelope, ENVELOPE_FIELDS);
  const { templateId, signers }: { templateId: unknown; signers: unknown } = envelope;
  checkType('templateId', templateId, 'string', { isRequired: true });
  if (!Array.isArray(signers))
    throw new UsageError(`signers must be an array, but got ${kindOf(signers)}.`, {
      hint: "Example: signers: [{ name: 'Ada Lovelace', email: 'ada@example.com' }].",
    });
  for (const signer of envelope.signers) {
    checkOptionNames('A signer', signer, SIGNER_FIELDS);
    checkType("A signer's email", signer.email, 'string', { isRequired: true });
    checkType("A signer's name", signer.name, 'string', { isRequired: true });
  }
}

/** Returns a user agent that can be sent in a header. @throws UsageError otherwise. */
export function usableUserAgent(userAgent = 'esign-cli-client'): string {
  checkType('userAgent', userAgent, 'string');
  if (/^[\t\x20-\x7e\x80-\xff]+$/.test(userAgent)) return userAgent;
  throw new UsageError('userAgent contains a line break or a character outside Latin-1.', {
    hint: 'Leave it out to use the default.',
  });
}

/** Returns the options of a call. @throws UsageError if they are not an object, or if the signal is not an AbortSignal. */
export function callOptions<Options extends { signal?: AbortSignal | undefined }>(
  options: Options | undefined,
): Partial<Options> {
  if (options === undefined) return {};
  checkObject("A call's options", options);
  const { signal }: { signal?: unknown } = options;
  // Not instanceof, because test environments replace the global AbortSignal.
  const isSignal =
    isRecord(signal) && typeof signal.aborted === 'boolean' && typeof signal.addEventListener === 'function';
  if (signal === undefined || isSignal) return options;
  throw new UsageError(`signal must be an AbortSignal, but got ${kindOf(signal)}.`, {
    hint: 'Pass the signal of an AbortController.',
  });
}

/** Returns the options of a list. @throws UsageError if the page size is out of range. */
export function listOptions<
  Options extends { signal?: AbortSignal | undefined; pageSize?: number | undefined },
>(options: Options | undefined): Partial<Options> {
  const checked = callOptions(options);
  checkNumber('pageSize', checked.pageSize, { min: 1, max: LIMITS.pageSize });
  return checked;
}
