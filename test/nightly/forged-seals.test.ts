import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Case, forgeries, genuine, makeSigners, type Signers } from '../documents/seal/forgeries.ts';
import { isAccepted, sealOf, stateOf } from '../documents/seal/seal-of.ts';
import { flipped, plainPdf, sealed, withSignature } from '../support/sealing.ts';
import { needs } from '../support/tools.ts';

let folder: string;
let signers: Signers;
const at = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'esign-forged-'));
  signers = await makeSigners();
});
afterAll(() => rmSync(folder, { recursive: true }));

it('accepts no file in which one bit was flipped', { timeout: 600_000 }, async () => {
  const pdf = sealed(signers.service);
  const other = pdf.indexOf('000000');
  for (let byte = 0; byte < pdf.length; byte++) {
    const changed = flipped(pdf, byte);
    const isPadding = changed.equals(pdf) || (byte > other && isSameSignature(changed, pdf));
    if (!isPadding) expect([byte, await isAccepted(changed, signers.service)]).toEqual([byte, false]);
  }
});

/** Returns true if only the case of a digit differs, which isn't a change of the signature. */
function isSameSignature(one: Buffer, other: Buffer): boolean {
  return one.toString('latin1').toLowerCase() === other.toString('latin1').toLowerCase();
}

describe('pdfsig, as a second reader,', needs('pdfsig'), () => {
  /** Returns whether pdfsig finds the last signature valid, and that it covers the file. */
  function says(pdf: Buffer): { valid: boolean; total: boolean } {
    writeFileSync(at('asked.pdf'), pdf);
    const said = spawnSync('pdfsig', ['-nocert', at('asked.pdf')]).stdout.toString();
    const last = said.slice(said.lastIndexOf('Signature #'));
    return {
      valid: last.includes('Signature is Valid'),
      total: last.includes('Total document signed'),
    };
  }

  it('agrees on every file that is whole', { timeout: 600_000 }, async () => {
    // pdfsig reads only two types of signatures.
    const all = [...genuine(signers), ...forgeries(signers)].filter(([name]) => !name.includes('Unknown'));
    const whole: Case[] = [];
    for (const one of all) if ((await stateOf(one[2])) === 'whole') whole.push(one);
    expect(whole.length).toBeGreaterThan(10);
    for (const [name, , pdf] of whole)
      expect([name, says(pdf)]).toEqual([name, { valid: true, total: true }]);
  });
});

describe('a document signed by openssl', needs('openssl'), () => {
  const KEYS = {
    rsa: ['rsa:2048'],
    ecdsa: ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
    p384: ['ec', '-pkeyopt', 'ec_paramgen_curve:P-384'],
  } as const;
  const openssl = (...words: string[]) =>
    execFileSync('openssl', words, { stdio: ['ignore', 'pipe', 'ignore'] });

  beforeAll(() => {
    for (const [name, kind] of Object.entries(KEYS)) {
      const files = ['-keyout', at(`${name}.key`), '-out', at(`${name}.pem`)];
      openssl('req', '-x509', '-nodes', '-days', '30', '-subj', `/CN=${name}`, ...files, '-newkey', ...kind);
    }
  });

  function signed(key: keyof typeof KEYS, options: readonly string[]): Buffer {
    return withSignature(plainPdf(), (covered) => {
      writeFileSync(at('covered'), covered);
      const files = ['-in', at('covered'), '-outform', 'DER', '-out', at('cms')];
      const signer = ['-signer', at(`${key}.pem`), '-inkey', at(`${key}.key`)];
      openssl('cms', '-sign', '-binary', '-md', 'sha256', ...files, ...signer, ...options);
      return readFileSync(at('cms'));
    });
  }

  it.each<[string, keyof typeof KEYS, string[]]>([
    ['RSA', 'rsa', []],
    ['RSA, CAdES', 'rsa', ['-cades']],
    ['RSA-PSS', 'rsa', ['-cades', '-keyopt', 'rsa_padding_mode:pss']],
    [
      'RSA-PSS with another salt',
      'rsa',
      ['-keyopt', 'rsa_padding_mode:pss', '-keyopt', 'rsa_pss_saltlen:20'],
    ],
    ['ECDSA', 'ecdsa', []],
    ['ECDSA on P-384, CAdES', 'p384', ['-cades', '-md', 'sha384']],
    ['the identifier of the key', 'rsa', ['-keyid']],
  ])('is whole, and changed with another bit: %s', async (_, key, options) => {
    const pdf = signed(key, options);
    expect(await stateOf(pdf)).toBe('whole');
    expect((await sealOf(pdf))?.subject).toBe(`CN=${key}`);
    expect(await stateOf(flipped(pdf, 40))).toBe('changed');
  });

  it.each([['-nodetach'], ['-noattr'], ['-nocerts'], ['-md', 'sha1']])(
    'is unreadable with %s %s',
    async (...options) => {
      expect(await stateOf(signed('rsa', options))).toBe('unreadable');
    },
  );

  it(
    'is whole if poppler signed it, alone and over another signature',
    needs('pdfsig', 'certutil', 'pk12util'),
    async () => {
      const db = `sql:${at('nss')}`;
      mkdirSync(at('nss'));
      execFileSync('certutil', ['-N', '-d', db, '--empty-password']);
      const files = ['-in', at('rsa.pem'), '-inkey', at('rsa.key'), '-out', at('rsa.p12')];
      openssl('pkcs12', '-export', '-name', 'poppler', '-passout', 'pass:x', ...files);
      execFileSync('pk12util', ['-i', at('rsa.p12'), '-d', db, '-W', 'x']);
      for (const pdf of [plainPdf(), signed('ecdsa', ['-cades'])]) {
        writeFileSync(at('open.pdf'), pdf);
        const words = ['-nssdir', db, '-add-signature', '-nick', 'poppler', at('open.pdf'), at('added.pdf')];
        execFileSync('pdfsig', words, { stdio: 'ignore' });
        const added = readFileSync(at('added.pdf'));
        expect([await stateOf(added), (await sealOf(added))?.subject]).toEqual(['whole', 'CN=rsa']);
        expect(await stateOf(flipped(added, 40))).toBe('changed');
        expect(await stateOf(Buffer.concat([added, Buffer.from('x')]))).toBe('extended');
      }
    },
  );
});
