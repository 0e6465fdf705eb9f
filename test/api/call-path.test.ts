import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCallPath } from '../../src/api/raw.ts';

const base = 'https://api.example.com/api/v1';

describe('the path of a direct call', () => {
  it.each([
    ['/esign/envelopes', '/esign/envelopes'],
    ['esign/envelopes', '/esign/envelopes'],
    ['/esign/envelopes?page=2', '/esign/envelopes?page=2'],
    [`${base}/esign/envelopes`, '/esign/envelopes'],
    ['/esign/envelopes/env_1..2', '/esign/envelopes/env_1..2'],
    ['/esign/envelopes/a%20b', '/esign/envelopes/a%20b'],
    ['/x?next=https://evil.example/', '/x?next=https://evil.example/'],
  ])('is accepted as %s', (given, path) => {
    expect(parseCallPath(given, base)).toBe(path);
  });

  it.each([
    'https://evil.example/api/v1/esign/envelopes',
    'http://api.example.com/api/v1/esign/envelopes',
    'https://api.example.com/other',
    'https://api.example.com/api/v1evil/x',
    'https://api.example.com:444/api/v1/x',
    'HTTPS://api.example.com@evil.example/api/v1/x',
    '//evil.example/x',
    '\\\\evil.example\\x',
    '/\\evil.example',
    '..',
    '/..',
    '/../admin',
    '/esign/../../admin',
    '/esign/./x',
    '/%2e%2e/admin',
    '/.%2E/admin',
    '/esign/..%2f..%2fadmin',
    '/esign/%252e%252e/admin',
    '/esign/..%5cadmin',
    '/esign/envelopes#x',
    '/esign/enve\nlopes',
    '/esign/enve\tlopes',
    ' /esign',
  ])('refuses %j', (given) => {
    expect(() => parseCallPath(given, base)).toThrow(expect.objectContaining({ code: 'USAGE' }));
  });

  it('never leaves the base URL, for any input', () => {
    const part = fc.constantFrom(
      '..',
      '.',
      '/',
      '//',
      '\\',
      '%2e',
      '%2f',
      '%5c',
      '?',
      '#',
      '@',
      ':',
      'http',
      'evil',
      ';',
      '%',
      '%25',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(part, fc.string({ maxLength: 3 })), { maxLength: 12 }), (parts) => {
        let path: string;
        try {
          path = parseCallPath(parts.join(''), base);
        } catch {
          return;
        }
        const url = new URL(`${base}${path}`);
        expect(url.origin).toBe('https://api.example.com');
        expect(url.pathname.startsWith('/api/v1/')).toBe(true);
        expect(
          decodeURIComponent(
            url.pathname.replaceAll(/%(?![0-9a-f]{2})/gi, '%25').replaceAll(/%[89a-f][0-9a-f]/gi, 'x'),
          ),
        ).not.toMatch(/(^|\/)\.\.(\/|$)/);
      }),
      { numRuns: 500 },
    );
  });
});
