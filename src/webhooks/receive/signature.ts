import { createHmac, timingSafeEqual } from 'node:crypto';
import { type RefusalKind, refusalReason } from './refusal-texts.ts';

export type SignatureCheck = { ok: true } | { ok: false; failure: RefusalKind; reason: string };

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
  const [value = '', ...others] = typeof header === 'string' ? [header] : (header ?? []);
  if (others.length > 0) return failed('several');
  if (value.trim() === '') return failed('missing');
  if (NAMED_PART.test(value)) return failed('namedParts');
  if (value.includes(',')) return failed('several');
  // Only the optional whitespace that HTTP allows around the value (RFC 9110, section 5.6.3).
  const hex = /^[ \t]*(?:sha256=)?([0-9a-f]{64})[ \t]*$/.exec(value)?.[1];
  if (hex === undefined) return malformed(value.trim());
  const given = Buffer.from(hex, 'hex');
  let matched = false;
  for (const secret of secrets) {
    // No early exit, because the time taken must not reveal which secret matched or how much of it.
    if (timingSafeEqual(given, createHmac('sha256', secret).update(payload).digest())) matched = true;
  }
  return matched ? { ok: true } : failed('mismatch');
}

function failed(failure: RefusalKind, value?: string): SignatureCheck {
  return { ok: false, failure, reason: refusalReason(failure, value) };
}

function malformed(value: string): SignatureCheck {
  const bare = value.replace(/^sha256=/, '');
  if (/^[0-9a-f]{64}$/i.test(bare)) return failed('uppercase');
  if (/^[0-9a-f]+$/i.test(bare)) return failed('wrongLength', String(bare.length));
  return failed('notHex');
}
