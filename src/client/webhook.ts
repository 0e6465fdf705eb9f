import { UsageError, VerificationError } from '../kernel/errors.ts';
import { readPayload } from '../webhooks/receive/payload.ts';
import { checkSignature } from '../webhooks/receive/signature.ts';
import type { WebhookEvent } from './model.ts';

/**
 * Verifies a webhook delivery and returns its event. The signature is compared in constant time with each secret.
 * @param payload The raw body, exactly as received: a string or bytes, not a parsed object.
 * @param signature The value of the X-Service-Signature header.
 * @param secrets The envelope's webhook secret, or several during a rotation.
 * @throws VerificationError if the signature is missing or does not match, or the body is not a JSON object.
 * @throws UsageError if the payload is not a string or bytes, or the secret is missing.
 */
export function verifyWebhook(
  payload: string | Uint8Array,
  signature: string | readonly string[] | null | undefined,
  secrets: string | readonly string[] | undefined,
): WebhookEvent {
  const bytes = bytesOf(payload);
  const check = checkSignature(bytes, signature ?? undefined, secretsOf(secrets));
  if (!check.ok) throw new VerificationError(`The webhook could not be verified: ${check.reason}.`);
  const read = readPayload(bytes);
  if (read === undefined || read.body === null) {
    throw new VerificationError('The signature is valid, but the body is not a JSON object.');
  }
  return { ...read.facts, body: read.body };
}

function bytesOf(payload: unknown): Uint8Array {
  if (typeof payload === 'string') return Buffer.from(payload);
  // In a test runner with its own context, a Uint8Array may come from another realm, where instanceof fails.
  if (ArrayBuffer.isView(payload))
    return new Uint8Array(payload.buffer, payload.byteOffset, payload.byteLength);
  throw new UsageError('The payload must be the raw body, as a string or bytes.', {
    hint: "A parsed body can't be verified. In Express, use express.raw({ type: 'application/json' }).",
  });
}

function secretsOf(given: string | readonly string[] | undefined): readonly string[] {
  const secrets = given === undefined ? [] : typeof given === 'string' ? [given] : given;
  if (secrets.length > 0 && secrets.every((secret) => typeof secret === 'string' && secret !== ''))
    return secrets;
  throw new UsageError('The webhook secret is missing or empty.', {
    hint: 'Use the webhookSecret that the envelope was created with.',
  });
}
