import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor, maskKey } from '../../src/kernel/redaction.ts';

describe('the redactor', () => {
  it('removes known secrets wherever they stand, however they are written', () => {
    const secret = 'sk_live_"quoted"/+x';
    const redactor = createRedactor([secret]);
    const text = `plain ${secret}, json ${JSON.stringify({ key: secret })}, url ?k=${encodeURIComponent(secret)}`;
    expect(redactor.redact(text)).not.toContain('quoted');
  });

  it.each([
    ['Authorization: Bearer abc.def', 'abc.def'],
    ['{"webhookSecret":"hush-hush-hush"}', 'hush-hush-hush'],
    ['{"secretAccessKey": "s3cr3t\\"x"}', 's3cr3t'],
    ['https://b/k?X-Amz-Signature=deadbeef&x=1', 'deadbeef'],
    ['http://user:passw0rd@proxy:8080', 'passw0rd'],
  ])('removes what has the shape of a secret: %s', (text, secret) => {
    expect(createRedactor().redact(text)).not.toContain(secret);
  });

  it('leaves no part of overlapping secrets', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 8, maxLength: 20 }),
        fc.string(),
        fc.string(),
        (secret, before, after) => {
          const redactor = createRedactor([secret, `${secret}-longer`]);
          expect(
            redactor.redact(`${before}${secret}-longer${after}`).replaceAll('[redacted]', ''),
          ).not.toContain(secret);
        },
      ),
    );
  });

  it('knows thousands of secrets that begin alike, and removes each wherever it stands', () => {
    const secrets = Array.from(
      { length: 5_000 },
      (_, n) => `whsec_${String(n).padStart(n % 7 === 0 ? 4 : 40, 'x')}`,
    );
    const redactor = createRedactor(secrets);
    expect(redactor.redact('whsec_ is how they begin, as whsec_other does')).toBe(
      'whsec_ is how they begin, as whsec_other does',
    );
    for (const secret of secrets.slice(0, 300))
      expect(redactor.redact(`whsec_a ${secret}, ${secret}${secret}.`)).toBe(
        'whsec_a [redacted], [redacted][redacted].',
      );
  });

  it('leaves nothing of secrets that lie over each other', () => {
    const redactor = createRedactor(['abcdefgh', 'defghijk', 'ghijklmnop']);
    expect(redactor.redact('<abcdefghijklmnop> <defghijk>')).toBe('<[redacted]> <[redacted]>');
  });

  it('shows a key by its first 8 characters, a short one not at all', () => {
    expect(maskKey('sk_live_0123456789')).toBe('sk_live_…');
    expect(maskKey('short')).toBe('…');
  });
});
