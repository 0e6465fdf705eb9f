import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor, maskKey, redactValue } from '../../src/kernel/redaction.ts';

describe('a known secret', () => {
  it('is removed in any encoding', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 6, maxLength: 30 }), (secret) => {
        const whole = Buffer.from(secret).toString();
        const ways = [
          secret,
          JSON.stringify(secret),
          encodeURIComponent(whole),
          new URLSearchParams({ k: secret }).toString().slice(2),
        ];
        const redacted = ways.map((way) => createRedactor([secret]).redact(`> ${way} <`));
        expect(redacted).toEqual(['> [redacted] <', '> "[redacted]" <', '> [redacted] <', '> [redacted] <']);
      }),
      { numRuns: 40, examples: [["it's (a) ~secret* & more!"], ['lone \ud800 half'], ['sk/+=&?"\\']] },
    );
  });

  it('is removed each time, and nothing else', () => {
    const redactor = createRedactor();
    redactor.add('sk_live_1');
    expect(redactor.redact('a sk_live_1, b sk_live_1sk_live_1 Stryker sk_live_')).toBe(
      'a [redacted], b [redacted][redacted] Stryker sk_live_',
    );
  });

  it('has at least 6 characters, because shorter text occurs anywhere', () => {
    const redactor = createRedactor(['12345', 'abcdef']);
    redactor.add(undefined);
    redactor.add('');
    expect(redactor.redact('12345 undefined abcdef')).toBe('12345 undefined [redacted]');
  });

  it('is removed completely if another secret contains it', () => {
    for (const secrets of [
      ['hunter22', 'hunter22-and-more'],
      ['hunter22-and-more', 'hunter22'],
      ['and-more', 'hunter22-and-more', 'hunter22'],
    ])
      expect(createRedactor(secrets).redact('x hunter22-and-more y hunter22 z')).toBe(
        'x [redacted] y [redacted] z',
      );
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

  it('is removed anywhere among thousands with the same beginning', () => {
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

  it('is removed completely if another secret overlaps it', () => {
    const redactor = createRedactor(['abcdefgh', 'defghijk', 'ghijklmnop']);
    expect(redactor.redact('<abcdefghijklmnop> <defghijk>')).toBe('<[redacted]> <[redacted]>');
  });
});

describe('text that looks like a secret', () => {
  it.each([
    ['Authorization: Bearer abc.def', 'Authorization: Bearer [redacted]'],
    ['authorization: bearer   a b c\r\nHost: x', 'authorization: bearer   [redacted]\r\nHost: x'],
    ["{authorization: 'Basic dXNlcg=='}", "{authorization: 'Basic [redacted]'}"],
    ['{"authorization" : "Bearer abc"}', '{"authorization" : "Bearer [redacted]"}'],
    ["authorization='Bearer abc'", "authorization='Bearer [redacted]'"],
    [
      'Authorization: AWS4-HMAC-SHA256 Credential=AKIA/x, Signature=1f2e',
      'Authorization: AWS4-HMAC-SHA256 [redacted]',
    ],
    ['{"webhookSecret":"hush-hush"}', '{"webhookSecret":"[redacted]"}'],
    ['{"webhook_secret" : "hush", "a":1}', '{"webhook_secret" : "[redacted]", "a":1}'],
    ['{"apiKey":"sk","api_key":"sk"}', '{"apiKey":"[redacted]","api_key":"[redacted]"}'],
    ['{"secretAccessKey": "s3cr3t\\"x", "b":"c"}', '{"secretAccessKey": "[redacted]", "b":"c"}'],
    ['{"secret_access_key":"a\\\\","b":"c"}', '{"secret_access_key":"[redacted]","b":"c"}'],
    ['{"sessionToken":"","session_token":"x"}', '{"sessionToken":"[redacted]","session_token":"[redacted]"}'],
    ['{"PASSWORD":"x y"}', '{"PASSWORD":"[redacted]"}'],
    [
      'https://b/k?X-Amz-Credential=AKIA%2Fx&X-Amz-Signature=deadbeef&x=1 next',
      'https://b/k?X-Amz-Credential=[redacted]&X-Amz-Signature=[redacted]&x=1 next',
    ],
    ['"https://b/k?x-amz-security-token=abc"', '"https://b/k?x-amz-security-token=[redacted]"'],
    ['https://b/k?x=1&X-Goog-Signature=ab&y', 'https://b/k?x=1&X-Goog-Signature=[redacted]&y'],
    ['https://b/k?sig=ab%2F&y', 'https://b/k?sig=[redacted]&y'],
    [
      String.raw`"?a=1\u0026X-Amz-Signature=ab\u0026y"`,
      String.raw`"?a=1\u0026X-Amz-Signature=[redacted]\u0026y"`,
    ],
    ['to=https%3A%2F%2Fb%3FX-Amz-Signature%3Dab', 'to=https%3A%2F%2Fb%3FX-Amz-Signature%3D[redacted]'],
    ["'/inspect?token=abc' twice", "'/inspect?token=[redacted]' twice"],
    ['http://user:passw0rd@proxy:8080', 'http://user:[redacted]@proxy:8080'],
    ['HTTPS://user:p@ss:w@proxy/x', 'HTTPS://user:[redacted]@proxy/x'],
    ['http://:passw0rd@proxy', 'http://:[redacted]@proxy'],
  ])('is removed from %s', (text, left) => {
    expect(createRedactor().redact(text)).toBe(left);
  });

  it.each([
    'Authorization: none',
    'text about bearers',
    '{"webhookSecretSet":true,"password":null}',
    '{"key":"password"}',
    'https://example.com/a?page=1&tokens=2&x=token',
    'https://example.com:8080/mail?to=a@b.c',
    'https://example.com:8080?to=a@b.c',
    '{"url":"https://example.com:8080","email":"a@b.c"}',
    'see https://example.com: ask a@b.c',
  ])('is not detected in %s', (text) => {
    expect(createRedactor().redact(text)).toBe(text);
  });
});

describe('a displayed key', () => {
  it.each([
    ['sk_live_0123456789', 'sk_live_…'],
    ['sk_live_01234', 'sk_live_…'],
    ['sk_live_0123', '…'],
    ['short', '…'],
    ['', '…'],
  ])('shows the first 8 characters of %j, and none if it is short: %s', (key, shown) => {
    expect(maskKey(key)).toBe(shown);
  });
});

describe('a value with secrets', () => {
  const redactor = createRedactor(['s3cr3t-1']);
  it.each<[unknown, unknown]>([
    ['a s3cr3t-1', 'a [redacted]'],
    [
      ['s3cr3t-1', 7],
      ['[redacted]', 7],
    ],
    [{ a: { b: 's3cr3t-1' } }, { a: { b: '[redacted]' } }],
    [{ 's3cr3t-1': 1 }, { '[redacted]': 1 }],
    [
      { webhookSecret: 'x', api_key: 'y', password: 'z' },
      { webhookSecret: '[redacted]', api_key: '[redacted]', password: '[redacted]' },
    ],
    [
      { Authorization: 'x', 'proxy-authorization': 'y' },
      { Authorization: '[redacted]', 'proxy-authorization': '[redacted]' },
    ],
    [
      { password: null, apiKey: ['x'] },
      { password: null, apiKey: ['x'] },
    ],
    [
      { passwords: 'x', my_password: 'y' },
      { passwords: 'x', my_password: 'y' },
    ],
    [null, null],
    [7, 7],
    [undefined, undefined],
  ])('%j is redacted as %j', (value, expected) => {
    expect(redactValue(value, redactor)).toEqual(expected);
  });
});
