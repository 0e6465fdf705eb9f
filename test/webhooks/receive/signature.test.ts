import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { checkSignature, sign } from '../../../src/webhooks/receive/signature.ts';
import { seeded } from '../../support/seeded.ts';
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
    ['an empty header', [''], 'missing'],
    ['two headers', [sign(payload, secret), sign(payload, secret)], 'several'],
    ['two in one header', `${sign(payload, secret)}, ${sign(payload, secret)}`, 'several'],
    ...[
      `t=1700000000,v1=${sign(payload, secret)}`,
      `v1=${sign(payload, secret)}`,
      `v1=${sign(payload, secret)},t=1700000000`,
      `ts=1700000000; sig=${sign(payload, secret)}`,
      `timestamp=1700000000,signature=${sign(payload, secret)}`,
    ].map((header): [string, string, string] => ['named parts', header, 'namedParts']),
    ['uppercase hex', sign(payload, secret).toUpperCase(), 'uppercase'],
    ['a truncated signature', sign(payload, secret).slice(1), 'wrongLength'],
    ['characters other than hex', 'z'.repeat(64), 'notHex'],
    ['a line after it', `${sign(payload, secret)}\nx`, 'notHex'],
    ['a different secret', sign(payload, 'some other secret'), 'mismatch'],
  ])('fail closed with %s', (_, header, failure) => {
    expect(checkSignature(payload, header, [secret])).toMatchObject({ ok: false, failure });
  });

  it('are refused without a secret', () => {
    expect(checkSignature(payload, sign(payload, ''), [])).toMatchObject({ ok: false, failure: 'mismatch' });
  });
});

/** More in test:full. */
const TRIES = Number(process.env.FORGERIES ?? 5_000);
const SEED = Number(process.env.FAULT_SEED ?? 20_261_121);

type Change = (good: string) => string;

describe('forged signatures', () => {
  it('are all refused, whatever is changed', () => {
    const random = seeded(SEED);
    const below = (limit: number) => Math.floor(random() * limit);
    const pick = <T>(list: readonly [T, ...T[]]): T => list[below(list.length)] ?? list[0];
    const secrets: [string, ...string[]] = [secret, 'a-second-secret-of-them', 'a-third-secret-of-them'];
    const hex = () => '0123456789abcdef'.charAt(below(16));
    const at = (text: string, index: number, put: string) =>
      text.slice(0, index) + put + text.slice(index + 1);
    const changes: [Change, ...Change[]] = [
      (good) => at(good, below(64), hex()),
      (good) => at(at(good, below(64), hex()), below(64), hex()),
      (good) => good.slice(0, below(64)),
      (good) => good + hex(),
      (good) => hex() + good,
      (good) => good.toUpperCase(),
      (good) => good.slice(1) + good.slice(0, 1),
      (good) => [...good].reverse().join(''),
      (good) => at(good, below(64), pick(['g', 'O', 'l', '０', '\u0430', ' ', '\n', '\u0000', 'é', '-'])),
      (good) =>
        `${pick(['sha1=', 'SHA256=', 'sha256:', 'sha256==', 'sha256=sha256=', 'v1=', '=', '0x'])}${good}`,
      (good) => `${good}${pick([',', ';', '\nx', '=', `,${good}`, ` ${good}`, '%00', '\u0000'])}`,
      () => Array.from({ length: 64 }, hex).join(''),
      () => sign(payload, `${pick(secrets)}${pick(['\n', ' ', 'x', '\u0000'])}`),
      () => sign(Buffer.from(`${payload.toString()}${pick(['\n', ' ', '\u0000', '{}'])}`), pick(secrets)),
      (good) => Buffer.from(good, 'hex').toString(pick(['base64', 'base64url', 'latin1'] as const)),
    ];
    let tried = 0;
    const passed: string[] = [];
    while (tried < TRIES) {
      const good = sign(payload, pick(secrets));
      const bad = pick(changes)(good);
      if (secrets.some((secret) => bad === sign(payload, secret))) continue;
      tried++;
      if (checkSignature(payload, bad, secrets).ok) passed.push(bad);
    }
    expect(passed).toEqual([]);
    expect(checkSignature(payload, sign(payload, secret), secrets).ok).toBe(true);
  });
});
