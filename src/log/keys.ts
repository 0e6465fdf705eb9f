import { hash } from 'node:crypto';
import { sortMembers } from '../kernel/json.ts';

/** The number of hexadecimal digits of a key or a content: 96 bits. */
export const KEY_DIGITS = 24;

/** What a create is identified by, as far as a request ID or an earlier attempt is concerned. */
export interface RequestContent {
  templateId: string;
  signers: readonly { email: string; name: string; role?: string | undefined; order?: number | undefined }[];
}

/** Returns the key of the create with this request ID. The ID may be anything, even an address: the key doesn't reveal it. */
export function createKey(baseUrl: string, requestId: string): string {
  return digest(['create', baseUrl, requestId]);
}

/** Returns the key of reminders to a signer of an envelope, or to all of its signers (`signerId` undefined). */
export function remindKey(baseUrl: string, envelopeId: string, signerId: string | undefined): string {
  return digest(['remind', baseUrl, envelopeId, signerId ?? '*']);
}

/**
 * Returns a hash of the template and the signers (address, name, role, order). The case of an address and the sequence of the
 * signers don't matter.
 */
export function contentHashOf({ templateId, signers }: RequestContent): string {
  const people = signers.map(({ email, name, role, order }) =>
    JSON.stringify([email.trim().toLowerCase(), name.trim(), role ?? null, order ?? null]),
  );
  return digest([1, templateId, people.sort()]);
}

/** Returns a hash of everything that a create sends, except its request ID and a webhook secret, which may be new each time. */
export function bodyHashOf(
  body: RequestContent & {
    metadata?: Record<string, unknown> | undefined;
    webhookSecret?: string | undefined;
  },
  requestIdKey: string,
): string {
  const { metadata, webhookSecret: _, ...rest } = body;
  const { [requestIdKey]: _id, ...others } = metadata ?? {};
  return digest([3, rest, others]);
}

/** Returns a hash of a JSON value, whatever the order of its members. In a list, missing values count as null. */
export function digest(value: unknown): string {
  return hash('sha256', JSON.stringify(sortMembers(value))).slice(0, KEY_DIGITS);
}
