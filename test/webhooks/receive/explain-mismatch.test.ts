import { expect, it } from 'vitest';
import { parseJson } from '../../../src/kernel/json.ts';
import { explainMismatch } from '../../../src/webhooks/receive/explain-mismatch.ts';
import { readPayload } from '../../../src/webhooks/receive/payload.ts';
import { fixForReason, refusalReason } from '../../../src/webhooks/receive/refusal-texts.ts';
import { checkSignature, sign } from '../../../src/webhooks/receive/signature.ts';
import { nested } from '../../support/webhooks.ts';

const MISMATCH = refusalReason('mismatch');
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
  expect(fixForReason(explained(body, signed, by))).not.toBeNull();
});

it.each([
  ['is large', `${' '.repeat(20_000)}${body}`],
  ['is nested too deeply to be serialized', nested(2_000)],
])('finds none for a body that %s', (_, received) => {
  expect(explained(received, body)).toBe(MISMATCH);
});

it.each([
  ['', 'webhook secret'],
  [['a', 'b'], 'duplicated'],
  ['t=1,v1=ab', 'optionally after "sha256="'],
  ['A'.repeat(64), 'lowercase'],
  ['ab', '64 hex digits'],
  ['x'.repeat(64), 'optionally after "sha256="'],
  ['a'.repeat(64), 'Compare the secret'],
])('has advice for the signature %j', (signature, advice) => {
  const check = checkSignature(Buffer.from(body), signature, [secret]);
  expect(check.ok ? null : fixForReason(check.reason)).toContain(advice);
});

it('has the advice of a body that was compressed, not that of a wrong secret', () => {
  expect(fixForReason(refusalReason('compressed', 'gzip'))).toContain('raw bytes');
  expect(fixForReason('a reason of another version')).toBeNull();
});
