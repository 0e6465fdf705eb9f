import { afterEach, describe, expect, it, vi } from 'vitest';
import { adviceFor } from '../../../src/webhooks/inspector/view.ts';
import { explainMismatch } from '../../../src/webhooks/receive/explain.ts';
import { MISMATCH, sign } from '../../../src/webhooks/receive/signature.ts';
import { nested } from '../../support/webhooks.ts';

const secret = 'a-secret-of-more-than-16';
const known = { secrets: [secret], others: ['the-secret-of-another-envelope'] };
const body = '{ "b": 1.0,  "a": {"c": [1, 2]} }\n';
const value: unknown = JSON.parse(body);
afterEach(() => {
  vi.restoreAllMocks();
});

describe('the reason for a signature mismatch', () => {
  it.each<[string, string | Buffer, string, string]>([
    ['the secret of another envelope', body, known.others[0] ?? '', "different envelope's secret"],
    ['a line break after the secret', body, `${secret}\n`, 'a space or line break'],
    ['compact', JSON.stringify(value), secret, 'parsed and serialized again'],
    ['indented', JSON.stringify(value, null, 4), secret, 'parsed and serialized again'],
    ['with blanks', '{"b": 1, "a": {"c": [1, 2]}}', secret, 'parsed and serialized again'],
    ['base64', Buffer.from(body).toString('base64'), secret, 'decoded from base64'],
    ['anything else', body, 'a different secret', MISMATCH],
  ])('is detected: %s', (_, signedBytes, by, reason) => {
    const signature = sign(Buffer.from(signedBytes), by);
    const explained = explainMismatch(Buffer.from(body), `sha256=${signature}`, known);
    expect(explained).toContain(reason);
    expect(adviceFor(explained)).not.toBeNull();
  });

  const list = (bytes: number) => `[${'1,'.repeat(bytes / 2)}1]`;
  it.each([
    ['2,000 levels around 100 KiB', nested(2_000).replace('1}', `${list(100 * 1024)}}`)],
    ['500 levels around 1 MiB', nested(500).replace('1}', `${list(1_000_000)}}`)],
    ['9,000 levels', nested(9_000)],
    ['31 levels around 60 KiB', nested(28).replace('1}', `${list(60_000)}}`)],
    ['no levels and 60 KiB', `{"a":${list(60_000)}}`],
  ])('takes few resources for %s', (_, bomb) => {
    const write = vi.spyOn(JSON, 'stringify');
    expect(explainMismatch(Buffer.from(bomb), 'f'.repeat(64), known)).toBe(MISMATCH);
    const written = write.mock.results.reduce((sum, { value: text }) => sum + String(text).length, 0);
    expect(written).toBeLessThan(2 * 1024 * 1024);
  });
});
