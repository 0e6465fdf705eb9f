import { expect, it } from 'vitest';
import { parseJson } from '../../../src/kernel/json.ts';
import { adviceFor } from '../../../src/webhooks/inspector/view.ts';
import { explainMismatch } from '../../../src/webhooks/receive/explain-mismatch.ts';
import { readPayload } from '../../../src/webhooks/receive/payload.ts';
import { MISMATCH, sign } from '../../../src/webhooks/receive/signature.ts';
import { nested } from '../../support/webhooks.ts';

const secret = 'a-secret-of-more-than-16';
const body = '{ "b": 1.0,  "a": {"c": [1, 2]} }\n';

function explained(received: string, signed: string, by = secret): string {
  const bytes = Buffer.from(received);
  const signature = `sha256=${sign(Buffer.from(signed), by)}`;
  return explainMismatch(bytes, readPayload(bytes)?.body ?? null, signature, [secret]);
}

it.each([
  ['a line break after the secret', body, `${secret}\n`, 'a space or line break'],
  ['compact', JSON.stringify(parseJson(body)), secret, 'parsed and serialized again'],
  ['without the line break', body.trim(), secret, 'parsed and serialized again'],
  ['anything else', body, 'a different secret', MISMATCH],
])('finds the reason for a signature mismatch: %s', (_, signed, by, reason) => {
  expect(explained(body, signed, by)).toContain(reason);
  expect(adviceFor(explained(body, signed, by))).not.toBeNull();
});

it.each([
  ['is large', `${' '.repeat(20_000)}${body}`],
  ['is nested too deeply to be serialized', nested(2_000)],
])('finds none for a body that %s', (_, received) => {
  expect(explained(received, body)).toBe(MISMATCH);
});
