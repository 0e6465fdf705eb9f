import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CheckedSeal, checkSeal } from '../../../src/documents/seal/check-seal.ts';
import { type SealRule, verifySeal } from '../../../src/documents/seal/judge.ts';
import { readAuthorities, type TrustedSigners } from '../../../src/documents/seal/trust.ts';
import { createPdf } from '../../../src/sandbox/documents/pdf/pdf.ts';
import { sealPdf } from '../../../src/sandbox/documents/seal.ts';
import { flipped } from '../../../src/sandbox/documents/tampering.ts';
import { type Issued, issue, type Wanted } from '../../support/authorities.ts';

const AT = new Date(Date.now() - 1_000).toISOString();
const OTHER = 'ab'.repeat(32);
let folder: string;
let root: Issued;
let unsigned: Uint8Array;
let seal: CheckedSeal;
let fingerprint: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-trust-'));
  root = await issue({ name: 'Root', authority: true });
  const blank = createPdf();
  blank.addSheet();
  unsigned = await blank.save({ title: 'Lease', subject: 'x', keywords: [], at: AT });
  seal = await sealedBy({ name: 'Signer' });
  fingerprint = String(seal.seal.fingerprint);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function sealedBy(signer: Wanted, change = (pdf: Buffer) => pdf): Promise<CheckedSeal> {
  const { keys, x509 } = await issue({ issuer: root, rsaBits: 2048, ...signer });
  const pdf = await sealPdf(unsigned, { privateKey: keys.privateKey, certificate: x509.raw }, AT);
  const path = join(folder, 'sealed.pdf');
  await writeFile(path, change(Buffer.from(pdf)));
  return checkSeal(path);
}

/** Trust and code. */
function judged(
  checked: CheckedSeal,
  known: Partial<TrustedSigners>,
  rule?: SealRule,
): [string | null, string | undefined] {
  const verdict = verifySeal(checked, { authorities: [], pinned: [], ...known }, rule);
  return [verdict.seal.trust, verdict.problem?.code];
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
    expect(judged(seal, { pinned: [OTHER, fingerprint] })).toEqual(['pinned', undefined]);
    expect(judged(seal, { pinned: [fingerprint], authorities: [other.x509] })).toEqual(['pinned', undefined]);
  });

  it('is different if another seal is pinned, unless an authority certified it', () => {
    expect(judged(seal, { pinned: [OTHER] })).toEqual(['other', 'SEAL_OTHER']);
    expect(judged(seal, { pinned: [OTHER], authorities: [root.x509] })).toEqual(['trusted', undefined]);
  });

  it('can be anyone on the original, even with pinned and required signers', () => {
    expect(judged(seal, { pinned: [OTHER] }, 'original')).toEqual(['unknown', undefined]);
    expect(judged(seal, { pinned: [fingerprint] }, 'original')).toEqual(['unknown', undefined]);
    expect(judged(seal, { sealedBy: [OTHER] }, 'original')).toEqual(['unknown', undefined]);
    expect(judged(seal, { authorities: [root.x509] }, 'original')).toEqual(['trusted', undefined]);
  });

  it('is named in the problem', () => {
    const messages = [{ pinned: [OTHER] }, { sealedBy: [OTHER] }].map((known) => {
      const { problem } = verifySeal(seal, { authorities: [], pinned: [], ...known });
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
    expect(judged(seal, { sealedBy: [OTHER], pinned: [fingerprint] })).toEqual(['pinned', 'SEAL_UNTRUSTED']);
  });
});

describe('the signer of a seal that is not intact', () => {
  it('is not required of a document without a seal', async () => {
    const path = join(folder, 'unsigned.pdf');
    await writeFile(path, unsigned);
    expect(judged(await checkSeal(path), { sealedBy: [OTHER] })).toEqual([null, undefined]);
  });

  it('is not reported', async () => {
    const changed = await sealedBy({ name: 'Signer' }, (pdf) => flipped(pdf, 40));
    expect(judged(changed, { authorities: [root.x509] })).toEqual([null, 'SEAL_CHANGED']);
    expect(judged(changed, { pinned: [String(changed.seal.fingerprint)] })).toEqual([null, 'SEAL_CHANGED']);
  });

  it('is not trusted with a 512-bit key', async () => {
    const weak = await sealedBy({ name: 'Signer', rsaBits: 768 });
    expect(weak.seal).toMatchObject({
      state: 'unreadable',
      reason: expect.stringContaining('key') as unknown,
    });
  });
});

describe('a file of authorities', () => {
  it('can contain one or more certificates, with any text between them', async () => {
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
