import type { EventRecord } from '../journal/record.ts';
import { shownHeaders } from '../receive/headers.ts';
import { readPayload } from '../receive/payload.ts';

/** Returns a record for JSON. The body is included as received, or in base64 if it is not JSON. */
export function eventJson(record: EventRecord): Record<string, unknown> {
  const { bodyBase64, targets: _targets, headers, ...rest } = record;
  const body = bodyOf(record);
  return { ...rest, headers: shownHeaders(headers), ...(body === null ? { bodyBase64 } : { body }) };
}

/** Returns the body, or null if it is not JSON. */
export function bodyOf(record: EventRecord): Record<string, unknown> | null {
  return readPayload(Buffer.from(record.bodyBase64, 'base64'))?.body ?? null;
}
