import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkSignature, sign } from '../../../src/webhooks/receive/signature.ts';
import { needs } from '../../support/tools.ts';

const secret = 'a-secret-of-more-than-16';
const payload = Buffer.from('{"event":"envelope.signed","data":{}}');

describe('webhook signatures', () => {
  it('are the lowercase hex HMAC-SHA256 of the raw bytes (RFC 4231, case 2)', () => {
    expect(sign(Buffer.from('what do ya want for nothing?'), 'Jefe')).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
  });

  it('agree with openssl', needs('openssl'), () => {
    const printed = execFileSync('openssl', ['dgst', '-sha256', '-hmac', secret, '-hex'], {
      input: payload,
    }).toString();
    expect(printed.trim().split(/\s+/).at(-1)).toBe(sign(payload, secret));
  });

  it('are trimmed of spaces and tabs only', () => {
    const signature = sign(payload, secret);
    expect(checkSignature(payload, ` ${signature}\t`, [secret])).toEqual({ ok: true });
    for (const blank of ['\u00a0', '\ufeff', '\u2028', '\n', '\v'])
      expect(checkSignature(payload, `${signature}${blank}`, [secret])).toMatchObject({ ok: false });
  });

  it('are accepted bare and with sha256=, from any of several secrets', () => {
    const signature = sign(payload, secret);
    for (const header of [signature, `sha256=${signature}`, [signature]]) {
      expect(checkSignature(payload, header, ['another-secret-entirely', secret])).toEqual({ ok: true });
    }
  });

  it.each([
    ['a missing header', undefined, 'missing'],
    ['an empty header', '', 'missing'],
    ['two headers', [sign(payload, secret), sign(payload, secret)], 'several'],
    ['two in one header', `${sign(payload, secret)}, ${sign(payload, secret)}`, 'several'],
    ['uppercase hex', sign(payload, secret).toUpperCase(), 'malformed'],
    ['a truncated signature', sign(payload, secret).slice(1), 'malformed'],
    ['characters other than hex', 'z'.repeat(64), 'malformed'],
    ['a line after it', `${sign(payload, secret)}\nx`, 'malformed'],
    ['a different secret', sign(payload, 'some other secret'), 'mismatch'],
  ])('fail closed with %s', (_, header, failure) => {
    expect(checkSignature(payload, header, [secret])).toMatchObject({ ok: false, failure });
  });

  it('are refused without a secret', () => {
    expect(checkSignature(payload, sign(payload, ''), [])).toMatchObject({ ok: false, failure: 'mismatch' });
  });

  it('verify for any bytes and secret, and not after flipping any bit of either', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1 }),
        fc.string({ minLength: 1 }),
        fc.nat(),
        (bytes, key, bit) => {
          const signature = sign(bytes, key);
          expect(checkSignature(bytes, signature, [key]).ok).toBe(true);
          const changed = Uint8Array.from(bytes);
          const at = bit % bytes.length;
          changed[at] = (changed[at] ?? 0) ^ (1 << (bit % 8));
          expect(checkSignature(changed, signature, [key]).ok).toBe(false);
        },
      ),
    );
  });

  it('are never accepted if they are made up', () => {
    fc.assert(
      fc.property(fc.string(), (header) => checkSignature(payload, header, [secret]).ok === false),
      { numRuns: 2_000 },
    );
  });
});
