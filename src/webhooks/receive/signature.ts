import { createHmac, timingSafeEqual } from 'node:crypto';

/** Why a signature was not accepted. For the operator, never for the sender. */
export type SignatureFailure = 'missing' | 'several' | 'malformed' | 'mismatch';

export type SignatureCheck = { ok: true } | { ok: false; failure: SignatureFailure; reason: string };

export const MISMATCH =
  'the signature does not match: it was made with a different secret, or the body was changed in transit';

/** Returns the lowercase hex HMAC-SHA256 of the raw payload (API document, Events, Signature). */
export function sign(payload: Uint8Array, secret: string): string {
  return createHmac('sha256', secret).update(payload).digest('hex');
}

/** A part of the signatures that other services send, such as `t=1700000000,v1=…`. */
const NAMED_PART = /(?:^|[,;])\s*(?:t|ts|timestamp|v\d+|sig|signature)=/i;

/**
 * Checks a delivery's signature over its raw bytes, in constant time, against each secret (rotation).
 * Accepted forms: `<hex>` and `sha256=<hex>`. Anything else, including two headers, fails.
 */
export function checkSignature(
  payload: Uint8Array,
  header: string | readonly string[] | undefined,
  secrets: readonly string[],
): SignatureCheck {
  if (header === undefined || header === '') return failed('missing', 'the signature header is missing');
  const values = typeof header === 'string' ? [header] : header;
  const [value] = values;
  if (values.length === 1 && value !== undefined && NAMED_PART.test(value))
    return failed(
      'malformed',
      'the signature has named parts, such as a timestamp; the service sends only hex',
    );
  if (value === undefined || values.length > 1 || value.includes(',')) {
    return failed('several', 'there is more than one signature header');
  }
  // Only the optional whitespace that HTTP allows around the value (RFC 9110, section 5.6.3).
  const hex = /^[ \t]*(?:sha256=)?([0-9a-f]{64})[ \t]*$/.exec(value)?.[1];
  if (hex === undefined) return failed('malformed', malformed(value.trim()));
  const given = Buffer.from(hex, 'hex');
  let matched = false;
  for (const secret of secrets) {
    // No early exit, because the time taken must not reveal which secret matched or how much of it.
    if (timingSafeEqual(given, createHmac('sha256', secret).update(payload).digest())) matched = true;
  }
  return matched ? { ok: true } : failed('mismatch', MISMATCH);
}

function failed(failure: SignatureFailure, reason: string): SignatureCheck {
  return { ok: false, failure, reason };
}

function malformed(value: string): string {
  const bare = value.replace(/^sha256=/, '');
  if (/^[0-9a-f]{64}$/i.test(bare)) return 'the signature is in uppercase; the service sends lowercase hex';
  if (/^[0-9a-f]+$/i.test(bare)) return `the signature has ${bare.length} hex digits instead of 64`;
  return 'the signature is not lowercase hex';
}
