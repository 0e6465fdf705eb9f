import { digest } from '../kernel/digest.ts';
import { REQUEST_ID_KEY } from '../kernel/vocabulary.ts';

/** Returns the key of the create with this request ID. The ID may be anything, even an address: the key doesn't reveal it. */
export function createKey(baseUrl: string, requestId: string): string {
  return digest(['create', baseUrl, requestId.normalize('NFC')]);
}

/** Returns the key of reminders to a signer of an envelope, or to all of its signers (`signerId` undefined). */
export function remindKey(baseUrl: string, envelopeId: string, signerId: string | undefined): string {
  return digest(['remind', baseUrl, envelopeId, signerId ?? '*']);
}

/** Returns a hash of everything that a create sends, except its request ID and a webhook secret, which may be new each time. */
export function bodyHashOf(body: {
  metadata?: Record<string, unknown> | undefined;
  webhookSecret?: string | undefined;
}): string {
  const { metadata, webhookSecret: _, ...rest } = body;
  const { [REQUEST_ID_KEY]: _id, ...others } = metadata ?? {};
  return digest([3, rest, others]);
}
