import { describe, expect, it } from 'vitest';
import { checkSignature, sign } from '../../../src/webhooks/receive/signature.ts';
import { seeded } from '../../support/faulty-proxy.ts';

const SECRET = 'a-secret-of-more-than-16';
const BODY = '{"event":"envelope.signed","data":{"envelopeId":"env_1"}}';
/** More in test:full. */
const TRIES = Number(process.env.FORGERIES ?? 20_000);
const SEED = Number(process.env.FAULT_SEED ?? 20_261_121);

type Change = (good: string) => string;

describe('forged signatures', () => {
  it('are all refused, in thousands of tries', () => {
    const random = seeded(SEED);
    const below = (limit: number) => Math.floor(random() * limit);
    const pick = <T>(list: readonly [T, ...T[]]): T => list[below(list.length)] ?? list[0];
    const secrets: [string, ...string[]] = [SECRET, 'a-second-secret-of-them', 'a-third-secret-of-them'];
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
      () => sign(Buffer.from(BODY), `${pick(secrets)}${pick(['\n', ' ', 'x', '\u0000'])}`),
      () => sign(Buffer.from(`${BODY}${pick(['\n', ' ', '\u0000', '{}'])}`), pick(secrets)),
      (good) => Buffer.from(good, 'hex').toString(pick(['base64', 'base64url', 'latin1'] as const)),
    ];
    let tried = 0;
    const passed: string[] = [];
    while (tried < TRIES) {
      const good = sign(Buffer.from(BODY), pick(secrets));
      const bad = pick(changes)(good);
      if (secrets.some((secret) => bad === sign(Buffer.from(BODY), secret))) continue;
      tried++;
      if (checkSignature(Buffer.from(BODY), bad, secrets).ok) passed.push(bad);
    }
    expect(passed).toEqual([]);
    expect(checkSignature(Buffer.from(BODY), sign(Buffer.from(BODY), SECRET), secrets).ok).toBe(true);
  }, 120_000);
});
