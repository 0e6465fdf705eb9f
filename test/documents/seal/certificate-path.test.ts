import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { leadsToAuthority } from '../../../src/documents/seal/trust.ts';
import { type Issued, issue, type Wanted } from '../../support/authorities.ts';
import { newFolder } from '../../support/folder.ts';
import { toolPath } from '../../support/tools.ts';

const DAY_MS = 86_400_000;
const NOW = Date.now();
const SIGNS = 0x80;
const CERTIFIES = 0x04;
const TLS_SERVER = '1.3.6.1.5.5.7.3.1';
const EMAIL = '1.3.6.1.5.5.7.3.4';
const DOCUMENTS = '1.3.6.1.5.5.7.3.36';

type Part = Omit<Wanted, 'name' | 'issuer'>;

interface Case {
  root?: Part;
  /** Between the authority and the signer, top down. */
  middle?: readonly Part[];
  signer?: Part;
  /** The expected path. */
  isTrusted: boolean;
  /** The result of openssl, where its purpose "S/MIME signing" means something else. */
  openssl?: boolean | 'other rules';
}

const CASES: Record<string, Case> = {
  'a signer of the authority': { isTrusted: true },
  'a signer of an intermediate authority': { middle: [{}], isTrusted: true },
  'an expired signer': { signer: { to: NOW - 1_000 }, isTrusted: false },
  'a signer that is not valid yet': { signer: { from: NOW + DAY_MS / 2 }, isTrusted: false },
  'an expired intermediate authority': { middle: [{ to: NOW - 1_000 }], isTrusted: false },
  'an expired authority': { root: { to: NOW - 1_000 }, isTrusted: false },
  'a signer that issues as an authority': { middle: [{ authority: false }], isTrusted: false },
  'an authority without basic constraints': {
    middle: [{ authority: undefined, keyUsage: CERTIFIES }],
    isTrusted: false,
  },
  'an authority that may not sign certificates': { middle: [{ keyUsage: SIGNS }], isTrusted: false },
  'a path as long as allowed': { root: { pathLength: 1 }, middle: [{ pathLength: 0 }], isTrusted: true },
  'a path longer than the authority allows': { root: { pathLength: 0 }, middle: [{}], isTrusted: false },
  'a path longer than an intermediate allows': { middle: [{ pathLength: 0 }, {}], isTrusted: false },
  'an unrealistically long path': {
    middle: Array.from({ length: 9 }, () => ({})),
    isTrusted: false,
    openssl: true,
  },
  'the longest path that is followed': { middle: Array.from({ length: 7 }, () => ({})), isTrusted: true },
  'a path that is one longer': {
    middle: Array.from({ length: 8 }, () => ({})),
    isTrusted: false,
    openssl: true,
  },
  // Name constraints aren't checked, so a path that has some is never trusted.
  'an authority with a limited choice of names': {
    root: { permitted: ['acme.example'] },
    isTrusted: false,
    openssl: true,
  },
  'an intermediate authority with excluded names': {
    middle: [{ excluded: ['acme.example'] }],
    isTrusted: false,
    openssl: true,
  },
  'a limited choice of names that is not critical': {
    middle: [{ permitted: ['acme.example'], isCritical: false }],
    isTrusted: false,
    openssl: true,
  },
  'an unknown critical extension': { signer: { critical: '1.2.3.4' }, isTrusted: false },
  'an unknown critical extension of an authority': {
    middle: [{ critical: '1.2.3.4' }],
    isTrusted: false,
  },
  'a signature with SHA-1': { signer: { hash: 'SHA-1' }, isTrusted: false },
  'an intermediate authority signed with SHA-1': { middle: [{ hash: 'SHA-1' }], isTrusted: false },
  'a configured root with a SHA-1 signature': { root: { hash: 'SHA-1' }, isTrusted: true },
  'a key of 512 bits': { signer: { rsaBits: 512 }, isTrusted: false },
  'a key of 1,024 bits': { signer: { rsaBits: 1024 }, isTrusted: false, openssl: 'other rules' },
  'a key of 2,048 bits': { signer: { rsaBits: 2048 }, isTrusted: true },
  'a key for digital signatures': { signer: { keyUsage: 0x80 }, isTrusted: true },
  'a key for commitments (non-repudiation)': { signer: { keyUsage: 0x40 }, isTrusted: true },
  'a key for key agreement only': { signer: { keyUsage: 0x08 }, isTrusted: false },
  'a certificate for TLS servers': { signer: { purposes: [TLS_SERVER] }, isTrusted: false },
  'a certificate for email': { signer: { purposes: [TLS_SERVER, EMAIL] }, isTrusted: true },
  'a certificate for documents': {
    signer: { purposes: [DOCUMENTS] },
    isTrusted: true,
    openssl: 'other rules',
  },
  'a certificate for any purpose': {
    signer: { purposes: ['2.5.29.37.0'] },
    isTrusted: true,
    openssl: 'other rules',
  },
  'an authority for TLS servers': { middle: [{ purposes: [TLS_SERVER] }], isTrusted: false },
};

let folder = '';
beforeAll(() => {
  folder = newFolder();
});

async function made({ root, middle = [], signer }: Case): Promise<Issued[]> {
  const chain = [await issue({ name: 'Root', authority: true, keyUsage: CERTIFIES, ...root })];
  for (const [index, part] of middle.entries()) {
    const issuer = chain.at(-1);
    chain.push(
      await issue({ name: `Between ${index}`, authority: true, ...part, ...(issuer && { issuer }) }),
    );
  }
  const issuer = chain.at(-1);
  chain.push(await issue({ name: 'Signer', authority: false, ...signer, ...(issuer && { issuer }) }));
  return chain;
}

const questionOf = (chain: readonly Issued[], at = NOW) => {
  const [root, ...rest] = chain.map(({ x509 }) => x509);
  const signer = rest.at(-1) ?? root;
  if (root === undefined || signer === undefined) throw new Error('The chain is empty.');
  return { signer, others: rest, authorities: [root], at };
};

describe('a certificate path', () => {
  it.each(Object.entries(CASES))('gets the expected verdict for %s', async (_, one) => {
    const chain = await made(one);
    expect(leadsToAuthority(questionOf(chain))).toBe(one.isTrusted);
    if (one.openssl === 'other rules' || toolPath('openssl') === undefined) return;
    expect(opensslTrusts(chain)).toBe(one.openssl ?? one.isTrusted);
  });

  it('is judged at the time of the seal', async () => {
    const chain = await made({
      signer: { from: NOW - 10 * DAY_MS, to: NOW - 9 * DAY_MS },
      root: { from: 0 },
      isTrusted: true,
    });
    expect(leadsToAuthority(questionOf(chain))).toBe(false);
    expect(leadsToAuthority(questionOf(chain, NOW - 9.5 * DAY_MS))).toBe(true);
  });

  it('is valid from the first to the last second of its certificates', async () => {
    const [from, to] = [NOW - DAY_MS, NOW + DAY_MS].map((time) => Math.floor(time / 1_000) * 1_000);
    if (from === undefined || to === undefined) throw new Error('no times');
    const chain = await made({ root: { from: 0, to: to + DAY_MS }, signer: { from, to }, isTrusted: true });
    const verdicts = [from - 1, from, to, to + 1].map((at) => leadsToAuthority(questionOf(chain, at)));
    expect(verdicts).toEqual([false, true, true, false]);
  });

  it('may contain renewed certificates of an authority, which no limit counts', async () => {
    const root = await issue({ name: 'Root', authority: true });
    const first = await issue({ name: 'Between', authority: true, issuer: root, pathLength: 0 });
    const renewed = await issue({ name: 'Between', authority: true, issuer: first });
    const signer = await issue({ name: 'Signer', issuer: renewed });
    const others = [renewed.x509, first.x509];
    const question = { signer: signer.x509, others, authorities: [root.x509], at: NOW };
    expect(leadsToAuthority(question)).toBe(true);
  });

  it('is found next to an unreadable certificate, and never starts with it', async () => {
    const repeated = '2.5.29.19';
    const chain = await made({ middle: [{}], isTrusted: true });
    const [root, between] = chain;
    if (root === undefined || between === undefined) throw new Error('The chain is missing.');
    const { keys } = between;
    const more = { authority: true, issuer: root, keys, critical: repeated };
    const unreadable = await issue({ name: 'Between 0', ...more });
    const question = questionOf(chain);
    expect(leadsToAuthority({ ...question, others: [unreadable.x509] })).toBe(false);
    expect(leadsToAuthority({ ...question, others: [unreadable.x509, ...question.others] })).toBe(true);
    const signer = await issue({ name: 'Signer', issuer: root, authority: false, critical: repeated });
    expect(leadsToAuthority({ ...question, signer: signer.x509 })).toBe(false);
  });

  it('is refused if it leads to another authority with the same name', async () => {
    const chain = await made({ isTrusted: true });
    const [other] = await made({ isTrusted: true });
    const question = questionOf(chain);
    expect(leadsToAuthority({ ...question, authorities: other ? [other.x509] : [] })).toBe(false);
    expect(leadsToAuthority({ ...question, authorities: [] })).toBe(false);
  });

  it('is found if an authority has two certificates, one of them expired', async () => {
    const chain = await made({ middle: [{ to: NOW - 1_000 }], isTrusted: false });
    const [root, ended] = chain;
    if (root === undefined || ended === undefined) throw new Error('The chain is missing.');
    const renewed = await issue({ name: 'Between 0', authority: true, issuer: root, keys: ended.keys });
    const question = questionOf(chain);
    expect(leadsToAuthority(question)).toBe(false);
    expect(leadsToAuthority({ ...question, others: [...question.others, renewed.x509] })).toBe(true);
  });

  it('needs no authority above a signer that is trusted directly', async () => {
    const alone = await issue({ name: 'Alone', authority: false });
    const server = await issue({ name: 'Server', authority: false, purposes: [TLS_SERVER] });
    for (const [{ x509 }, isTrusted] of [
      [alone, true],
      [server, false],
    ] as const)
      expect(leadsToAuthority({ signer: x509, others: [], authorities: [x509], at: NOW })).toBe(isTrusted);
  });

  it('is found in bounded time among certificates that issue each other', async () => {
    const keys = (await issue({ name: 'Loop' })).keys;
    const loop = await issue({ name: 'Loop', authority: true, keys });
    const others = await Promise.all(
      Array.from(
        { length: 60 },
        async () => (await issue({ name: 'Loop', authority: true, keys, issuer: loop })).x509,
      ),
    );
    const signer = await issue({ name: 'Signer', issuer: loop });
    const root = await issue({ name: 'Root', authority: true });
    const before = process.cpuUsage();
    expect(leadsToAuthority({ signer: signer.x509, others, authorities: [root.x509], at: NOW })).toBe(false);
    expect(process.cpuUsage(before).user).toBeLessThan(5_000_000);
  });
});

function opensslTrusts(chain: readonly Issued[]): boolean {
  const pems = chain.map(({ pem }) => pem);
  const [root = '', signer = ''] = [pems[0], pems.at(-1)];
  const files = { root, others: pems.slice(1, -1).join(''), signer };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const others = files.others === '' ? [] : ['-untrusted', join(folder, 'others')];
  const words = ['-purpose', 'smimesign', '-auth_level', '1', '-attime', String(Math.floor(NOW / 1_000))];
  const said = spawnSync('openssl', [
    ...['verify', ...words, '-CAfile', join(folder, 'root'), ...others, join(folder, 'signer')],
  ]);
  return said.status === 0;
}
