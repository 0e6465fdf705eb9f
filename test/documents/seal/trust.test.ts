import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { SealWithSigner } from '../../../src/documents/seal/check-seal.ts';
import { judgeSeal, type SealRule } from '../../../src/documents/seal/judge.ts';
import { readAuthorities, type TrustedSigners } from '../../../src/documents/seal/trust.ts';
import { type Issued, issue, type Wanted } from '../../support/authorities.ts';
import { newFolder } from '../../support/folder.ts';
import { flipped, makeSealer, plainPdf, sealed } from '../../support/sealing.ts';
import { checkedSealOf } from './seal-of.ts';

/** The time in the seals. */
const AT = '2026-03-01T10:20:30.000Z';
const OTHER = 'ab'.repeat(32);
let root: Issued;
let seal: SealWithSigner;
let fingerprint: string;

beforeAll(async () => {
  ({ issued: root } = await makeSealer({ name: 'Root', authority: true }));
  seal = await sealedBy({ name: 'Signer' });
  fingerprint = String(seal.seal.fingerprint);
});

async function sealedBy(signer: Wanted, change = (pdf: Buffer) => pdf): Promise<SealWithSigner> {
  const checked = await checkedSealOf(change(sealed(await makeSealer({ issuer: root, ...signer }))));
  if (checked === null) throw new Error('not a PDF');
  return checked;
}

/** Trust and code. */
function judged(
  checked: SealWithSigner,
  known: Partial<TrustedSigners>,
  rule?: SealRule,
): [string | null, string | undefined] {
  const verdict = judgeSeal(checked, { authorities: [], ...known }, rule);
  return [verdict.seal?.trust ?? null, verdict.problem?.code];
}

describe('the signer of an intact seal', () => {
  it('is trusted if an authority certified it; otherwise it is unknown and fails', async () => {
    const other = await issue({ name: 'Root', authority: true });
    expect(judged(seal, { authorities: [root.x509] })).toEqual(['trusted', undefined]);
    expect(judged(seal, { authorities: [other.x509] })).toEqual(['unknown', 'SEAL_UNTRUSTED']);
    expect(judged(seal, {})).toEqual(['unknown', undefined]);
  });

  it('is judged at the time in the seal', async () => {
    const DAY_MS = 86_400_000;
    const ended = await sealedBy({
      name: 'Signer',
      from: Date.parse(AT) - 2 * DAY_MS,
      to: Date.parse(AT) - DAY_MS,
    });
    expect(judged(ended, { authorities: [root.x509] })).toEqual(['unknown', 'SEAL_UNTRUSTED']);
    const at = (time: string | null) => ({ ...seal, seal: { ...seal.seal, time } });
    const later = new Date(Date.parse(AT) + 36_500 * DAY_MS).toISOString();
    expect(judged(at(later), { authorities: [root.x509] })).toEqual(['unknown', 'SEAL_UNTRUSTED']);
    expect(judged(at(null), { authorities: [root.x509] })).toEqual(['trusted', undefined]);
  });

  it('is not trusted without the purpose of signing documents', async () => {
    const server = await sealedBy({ name: 'Server', purposes: ['1.3.6.1.5.5.7.3.1'] });
    expect(judged(server, { authorities: [root.x509] })).toEqual(['unknown', 'SEAL_UNTRUSTED']);
  });

  it('can be pinned by its fingerprint, even if it leads to no known authority', async () => {
    const other = await issue({ name: 'Other', authority: true });
    expect(judged(seal, { pin: fingerprint, authorities: [other.x509] })).toEqual(['pinned', undefined]);
  });

  it('is reported as different if another seal is pinned, unless an authority certified it', () => {
    expect(judged(seal, { pin: OTHER })).toEqual(['other', 'SEAL_OTHER']);
    expect(judged(seal, { pin: OTHER, authorities: [root.x509] })).toEqual(['trusted', undefined]);
  });

  it('is not compared with pinned or required signers on the original', () => {
    expect(judged(seal, { pin: OTHER }, 'original')).toEqual(['unknown', undefined]);
    expect(judged(seal, { pin: fingerprint }, 'original')).toEqual(['unknown', undefined]);
    expect(judged(seal, { sealedBy: [OTHER] }, 'original')).toEqual(['unknown', undefined]);
    expect(judged(seal, { authorities: [root.x509] }, 'original')).toEqual(['trusted', undefined]);
  });

  it('is named in the problem', () => {
    const messages = [{ pin: OTHER }, { sealedBy: [OTHER] }].map((known) => {
      const { problem } = judgeSeal(seal, { authorities: [], ...known });
      return problem?.message;
    });
    expect(messages[0]).toContain('CN=Signer');
    expect(messages[1]).toContain('CN=Signer');
    expect(messages[1]).toContain(fingerprint);
    expect(seal.seal).toMatchObject({ subject: 'CN=Signer', issuer: 'CN=Root' });
    expect(fingerprint).toMatch(/^[\da-f]{64}$/);
  });

  it('must be the required one, even if it is trusted or pinned', () => {
    expect(judged(seal, { sealedBy: [fingerprint] })).toEqual(['pinned', undefined]);
    expect(judged(seal, { sealedBy: [OTHER] })).toEqual(['unknown', 'SEAL_UNTRUSTED']);
    expect(judged(seal, { sealedBy: [OTHER], authorities: [root.x509] })).toEqual([
      'trusted',
      'SEAL_UNTRUSTED',
    ]);
    expect(judged(seal, { sealedBy: [OTHER], pin: fingerprint })).toEqual(['pinned', 'SEAL_UNTRUSTED']);
  });
});

describe('a seal with bytes behind it', () => {
  it('is accepted only where that is expected, and only from a known signer', async () => {
    const extended = await sealedBy({ name: 'Signer' }, (pdf) => Buffer.concat([pdf, Buffer.from('%')]));
    const pin = String(extended.seal.fingerprint);
    expect(judged(extended, { pin })).toEqual(['pinned', 'SEAL_EXTENDED']);
    expect(judged(extended, { pin, acceptsExtended: 'known' })).toEqual(['pinned', undefined]);
    expect(judged(extended, { authorities: [root.x509], acceptsExtended: 'known' })).toEqual([
      'trusted',
      undefined,
    ]);
    expect(judged(extended, { acceptsExtended: 'known' })).toEqual(['unknown', 'SEAL_EXTENDED']);
    expect(judged(extended, { pin: OTHER, acceptsExtended: 'known' })).toEqual(['other', 'SEAL_EXTENDED']);
  });
});

describe('the signer of a seal that is not intact', () => {
  it('is not required of a document without a seal', async () => {
    expect(judgeSeal(await checkedSealOf(plainPdf()), { authorities: [], sealedBy: [OTHER] })).toMatchObject({
      seal: { trust: null },
      problem: null,
    });
  });

  it('is not reported', async () => {
    const changed = await sealedBy({ name: 'Signer' }, (pdf) => flipped(pdf, 40));
    expect(judged(changed, { authorities: [root.x509] })).toEqual([null, 'SEAL_CHANGED']);
    expect(judged(changed, { pin: String(changed.seal.fingerprint) })).toEqual([null, 'SEAL_CHANGED']);
  });
});

describe('a file of authorities', () => {
  it('can contain one or more certificates, with any text between them', async () => {
    const folder = newFolder();
    const path = join(folder, 'ca.pem');
    const other = await issue({ name: 'Other', authority: true });
    await writeFile(path, `# Root\n${root.pem}\nOther\n${other.pem}`);
    expect((await readAuthorities(path)).map(({ subject }) => subject)).toEqual(['CN=Root', 'CN=Other']);
    const hint = expect.any(String) as unknown;
    await writeFile(path, 'nothing');
    await expect(readAuthorities(path)).rejects.toThrow('no certificate');
    await expect(readAuthorities(path)).rejects.toMatchObject({ name: 'UsageError', hint });
    const missing = join(folder, 'missing.pem');
    await expect(readAuthorities(missing)).rejects.toThrow("Can't read the authorities");
    await expect(readAuthorities(missing)).rejects.toMatchObject({ name: 'UsageError', hint });
  });
});
