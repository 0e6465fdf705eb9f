import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalizeBaseUrl } from '../../src/api/base-url.ts';
import { UsageError } from '../../src/kernel/errors.ts';
import { isLoopbackHost } from '../../src/kernel/network/localhost.ts';

const hint = 'A base URL looks like https://api.example.com/api/v1.';

function refusal(text: string): unknown {
  try {
    return `accepted as ${normalizeBaseUrl(text)}`;
  } catch (error) {
    return error;
  }
}

describe('a base URL', () => {
  it.each([
    ['https://api.example.com/api/v1', 'https://api.example.com/api/v1'],
    ['https://api.example.com/api/v1/', 'https://api.example.com/api/v1'],
    ['https://api.example.com/api/v1///', 'https://api.example.com/api/v1'],
    ['https://api.example.com', 'https://api.example.com'],
    ['https://api.example.com/', 'https://api.example.com'],
    ['HTTPS://API.Example.com:443/api//v1', 'https://api.example.com/api//v1'],
    ['https://api.example.com:8443/v1?key=x', 'https://api.example.com:8443/v1'],
    ['https://api.example.com/v1/?a=b#part', 'https://api.example.com/v1'],
    ['http://127.0.0.1:4010/api/v1', 'http://127.0.0.1:4010/api/v1'],
    ['http://localhost/api/v1/', 'http://localhost/api/v1'],
  ])('parses %s as %s', (given, kept) => {
    expect(normalizeBaseUrl(given)).toBe(kept);
  });

  it.each([
    ['', 'The base URL "" is not a URL.'],
    ['api.example.com/api/v1', 'The base URL "api.example.com/api/v1" is not a URL.'],
    ['https://', 'The base URL "https://" is not a URL.'],
    ['ftp://api.example.com', 'The base URL must start with https://, not ftp://.'],
    ['file:///etc/passwd', 'The base URL must start with https://, not file://.'],
    ['https://ada@api.example.com', 'The base URL must not contain a username or password.'],
    ['https://:secret@api.example.com', 'The base URL must not contain a username or password.'],
    ['https://ada:secret@api.example.com', 'The base URL must not contain a username or password.'],
  ])('refuses %j and gives a valid example', (given, message) => {
    const error = refusal(given);
    expect(error).toBeInstanceOf(UsageError);
    expect(error).toMatchObject({ message, hint });
  });

  it('allows plain http to another host only with an explicit opt-in', () => {
    const given = 'http://api.example.com:8080/api/v1/';
    const error = refusal(given);
    expect(error).toBeInstanceOf(UsageError);
    expect(error).toMatchObject({
      message: expect.stringContaining('http://api.example.com:8080') as unknown,
      hint: expect.stringContaining('--insecure-http') as unknown,
    });
    expect(() => normalizeBaseUrl(given, { insecureHttp: false })).toThrow('plain http');
    expect(normalizeBaseUrl(given, { insecureHttp: true })).toBe('http://api.example.com:8080/api/v1');
  });

  it('never allows a URL that could leak the key, for any input', () => {
    const parts = fc.constantFrom(
      'http:',
      'https:',
      '//',
      '/',
      '@',
      ':',
      '?',
      '#',
      'localhost',
      '127.0.0.1',
      '.',
      'evil.example',
      '[::1]',
      '\\',
      '%2e',
      ' ',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(parts, fc.string({ maxLength: 3 })), { maxLength: 9 }), (given) => {
        const kept = refusal(given.join(''));
        if (kept instanceof UsageError) return;
        const base = normalizeBaseUrl(given.join(''));
        const url = new URL(base);
        expect(url.protocol === 'https:' || isLoopbackHost(url.hostname)).toBe(true);
        expect([url.username, url.password, url.search, url.hash]).toEqual(['', '', '', '']);
        expect(base.endsWith('/')).toBe(false);
      }),
      { numRuns: 500 },
    );
  });
});
