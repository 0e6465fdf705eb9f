import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkSeal } from '../../../src/documents/seal/check-seal.ts';
import { verifySeal } from '../../../src/documents/seal/judge.ts';
import { makeSealKey, sealPdf } from '../../../src/sandbox/documents/seal.ts';
import { flipped, objectText, partsOf, tampered, updated } from '../../../src/sandbox/documents/tampering.ts';
import { TAMPERINGS } from '../../../src/sandbox/model.ts';
import { needs } from '../../support/tools.ts';
import {
  at,
  blankPdf,
  createKeys,
  type KeyName,
  openssl,
  removeKeys,
  sealedBy,
  signed,
  stamp,
  withStore,
} from './forging/openssl.ts';

let unsigned: Buffer;

describe('documents sealed by others', needs('openssl'), () => {
  beforeAll(async () => {
    createKeys();
    unsigned = await blankPdf();
  });
  afterAll(removeKeys);

  async function sealOf(pdf: Buffer) {
    writeFileSync(at('sealed.pdf'), pdf);
    return (await checkSeal(at('sealed.pdf'))).seal;
  }

  const WAYS: [string, string, KeyName, string[]][] = [
    ['RSA', 'adbe.pkcs7.detached', 'rsa', []],
    ['RSA, CAdES', 'ETSI.CAdES.detached', 'rsa', ['-cades']],
    ['RSA-PSS', 'ETSI.CAdES.detached', 'rsa', ['-cades', '-keyopt', 'rsa_padding_mode:pss']],
    [
      'RSA-PSS with another salt',
      'adbe.pkcs7.detached',
      'rsa',
      ['-keyopt', 'rsa_padding_mode:pss', '-keyopt', 'rsa_pss_saltlen:20'],
    ],
    ['ECDSA', 'adbe.pkcs7.detached', 'ecdsa', []],
    ['ECDSA on P-384, CAdES', 'ETSI.CAdES.detached', 'p384', ['-cades', '-md', 'sha384']],
    ['the identifier of the key', 'adbe.pkcs7.detached', 'rsa', ['-keyid']],
  ];

  it.each(WAYS)(
    'finds %s intact and whole, and detects any change to it',
    async (_, subFilter, key, options) => {
      const pdf = signed(unsigned, subFilter, key, ...options);
      expect(await sealOf(pdf)).toMatchObject({
        state: 'intact',
        coverage: 'whole',
        subject: expect.stringContaining(key) as unknown,
      });
      expect(await sealOf(flipped(pdf, 40))).toMatchObject({ state: 'changed' });
    },
  );

  it("doesn't trust a SHA-1 signature", async () => {
    const pdf = signed(unsigned, 'adbe.pkcs7.detached', 'rsa', '-md', 'sha1');
    expect(await sealOf(pdf)).toMatchObject({
      state: 'unreadable',
      reason: expect.stringContaining('hash') as unknown,
    });
  });

  it('finds both signatures intact after a second one, and takes the signer from the last one', async () => {
    const first = signed(unsigned, 'ETSI.CAdES.detached', 'rsa', '-cades');
    const both = signed(first, 'ETSI.CAdES.detached', 'ecdsa', '-cades');
    expect(await sealOf(both)).toMatchObject({
      state: 'intact',
      coverage: 'whole',
      subject: expect.stringContaining('ecdsa') as unknown,
    });
    const broken = flipped(both, partsOf(first).gapStart + 101);
    expect(await sealOf(broken)).toMatchObject({ state: 'changed' });
  });

  it('finds it whole with later validation data, and with nothing else', async () => {
    const pdf = signed(unsigned, 'ETSI.CAdES.detached', 'rsa', '-cades');
    expect(await sealOf(withStore(pdf))).toMatchObject({ state: 'intact', coverage: 'whole' });
    expect(await sealOf(withStore(pdf, '/OpenAction [4 0 R /Fit]'))).toMatchObject({ coverage: 'extended' });
    const more = Buffer.concat([withStore(pdf), Buffer.from('x')]);
    expect(await sealOf(more)).toMatchObject({ coverage: 'extended' });
  });

  it('treats an object that a later revision defines twice as added content, because readers differ in which one they show', async () => {
    const pdf = signed(unsigned, 'ETSI.CAdES.detached', 'rsa', '-cades');
    const page = /(\d+) 0 obj\s*<<\s*\/Type \/Page\b/.exec(pdf.toString('latin1'))?.[1] ?? '';
    const [same, other] = [objectText(pdf, Number(page)), '<< /Type /Page /Parent 1 0 R >>'];
    const entry = (at: number) => `${page} 1\n${String(at).padStart(10, '0')} 00000 n \n`;
    const twice = (first: string, second: string) => {
      const head = `${page} 0 obj\n${first}\nendobj\n`;
      const both = `${head}${page} 0 obj\n${second}\nendobj\n`;
      const { root, size, startxref } = partsOf(pdf);
      const trailer = `trailer\n<< /Size ${size} /Root ${root} /Prev ${startxref} >>\nstartxref\n${pdf.length + both.length}\n%%EOF\n`;
      const table = `xref\n${entry(pdf.length)}${entry(pdf.length + head.length)}`;
      return Buffer.concat([pdf, Buffer.from(`${both}${table}${trailer}`, 'latin1')]);
    };
    expect(await sealOf(twice(same, other))).toMatchObject({ coverage: 'extended' });
    expect(await sealOf(twice(other, same))).toMatchObject({ coverage: 'extended' });
  });

  it('finds several signatures whole, each with validation data and timestamps', async () => {
    const stamped = (pdf: Buffer) => {
      const token = () =>
        stamp(
          createHash('sha256')
            .update(readFileSync(at('covered')))
            .digest('hex'),
        );
      return sealedBy(pdf, 'ETSI.RFC3161', token);
    };
    const first = withStore(signed(unsigned, 'ETSI.CAdES.detached', 'rsa', '-cades'));
    const second = signed(first, 'ETSI.CAdES.detached', 'ecdsa', '-cades');
    const whole = stamped(stamped(withStore(second)));
    const believed = {
      state: 'intact',
      coverage: 'whole',
      subject: expect.stringContaining('ecdsa') as unknown,
    };
    for (const pdf of [second, withStore(second), stamped(withStore(second)), whole, withStore(whole)])
      expect(await sealOf(pdf)).toMatchObject(believed);
    expect(await sealOf(flipped(whole, 40))).toMatchObject({ state: 'changed' });
    const more = updated(whole, { 99: '<< /Length 1 >>\nstream\nx\nendstream' });
    expect(await sealOf(more)).toMatchObject({ coverage: 'extended' });
  });

  it('checks a document timestamp, which raises the level', async () => {
    const pdf = withStore(signed(unsigned, 'ETSI.CAdES.detached', 'rsa', '-cades'));
    const covered = () => readFileSync(at('covered'));
    const stamped = (what: () => Buffer) =>
      sealedBy(pdf, 'ETSI.RFC3161', () => stamp(createHash('sha256').update(what()).digest('hex')));
    const good = stamped(covered);
    expect(await sealOf(good)).toMatchObject({ state: 'intact', coverage: 'whole', level: 'B-LTA' });
    expect((await sealOf(good)).subject).toContain('rsa');
    expect(await sealOf(stamped(() => Buffer.from('x')))).toMatchObject({ state: 'changed' });
    expect(await sealOf(flipped(good, 40))).toMatchObject({ state: 'changed' });
  });

  it("doesn't treat a timestamp alone as a seal, because it proves when, not who", async () => {
    const stamped = sealedBy(unsigned, 'ETSI.RFC3161', () =>
      stamp(
        createHash('sha256')
          .update(readFileSync(at('covered')))
          .digest('hex'),
      ),
    );
    writeFileSync(at('stamped.pdf'), stamped);
    const checked = await checkSeal(at('stamped.pdf'));
    expect(checked.seal).toMatchObject({ state: 'unsigned', subject: null, fingerprint: null });
    const authorities = [new X509Certificate(readFileSync(at('tsa.pem')))];
    const verdict = verifySeal(checked, { authorities, pinned: [] }, 'required');
    expect(verdict).toMatchObject({ seal: { trust: null }, problem: { code: 'SEAL_MISSING' } });
    expect(await sealOf(flipped(stamped, 40))).toMatchObject({ state: 'changed' });
  });

  it("doesn't trust a signature that embeds the content or has no attributes", async () => {
    expect(await sealOf(signed(unsigned, 'adbe.pkcs7.detached', 'rsa', '-nodetach'))).toMatchObject({
      state: 'unreadable',
    });
    expect(await sealOf(signed(unsigned, 'adbe.pkcs7.detached', 'rsa', '-noattr'))).toMatchObject({
      state: 'unreadable',
    });
    expect(await sealOf(signed(unsigned, 'adbe.pkcs7.detached', 'rsa', '-nocerts'))).toMatchObject({
      state: 'unreadable',
    });
  });

  describe('by poppler', needs('pdfsig', 'certutil', 'pk12util'), () => {
    const db = () => `sql:${at('nss')}`;
    beforeAll(() => {
      mkdirSync(at('nss'));
      execFileSync('certutil', ['-N', '-d', db(), '--empty-password']);
      const files = ['-in', at('rsa.pem'), '-inkey', at('rsa.key'), '-out', at('rsa.p12')];
      openssl('pkcs12', '-export', '-name', 'poppler', '-passout', 'pass:x', ...files);
      execFileSync('pk12util', ['-i', at('rsa.p12'), '-d', db(), '-W', 'x']);
    });

    function added(pdf: Buffer): Buffer {
      writeFileSync(at('open.pdf'), pdf);
      const words = ['-nssdir', db(), '-add-signature', '-nick', 'poppler', at('open.pdf'), at('added.pdf')];
      execFileSync('pdfsig', words, { stdio: 'ignore' });
      return readFileSync(at('added.pdf'));
    }

    it('finds a signature intact and whole, alone and over another, and detects any change to it', async () => {
      const alone = added(unsigned);
      const over = added(signed(unsigned, 'ETSI.CAdES.detached', 'ecdsa', '-cades'));
      for (const pdf of [alone, over]) {
        const seal = await sealOf(pdf);
        expect(seal).toMatchObject({
          state: 'intact',
          coverage: 'whole',
          time: expect.any(String) as unknown,
        });
        expect(seal.subject).toContain('rsa');
        expect(await sealOf(flipped(pdf, 40))).toMatchObject({ state: 'changed' });
        expect(await sealOf(Buffer.concat([pdf, Buffer.from('x')]))).toMatchObject({ coverage: 'extended' });
      }
    });

    it('detects a change of any byte of a signature with indefinite lengths, except in copies of the certificate', {
      tags: ['full'],
    }, async () => {
      const pdf = added(unsigned);
      const first = pdf.lastIndexOf('<3080') + 1;
      const cms = Buffer.from(pdf.toString('latin1', first, pdf.indexOf('>', first)), 'hex');
      // Behind the empty content: [0] and its length, then the certificates.
      const certificates = cms.indexOf(Buffer.from('0000a082', 'hex')) + 2;
      const signers = certificates + 4 + cms.readUInt16BE(certificates + 2);
      const after = Array.from({ length: 120 }, (_, index) => signers + 5 * index);
      const places = [...Array(certificates).keys(), ...after].filter((place) => place < cms.length);
      for (const place of places) {
        const other = flipped(cms, place).toString('hex');
        const changed = Buffer.from(pdf);
        changed.write(other, first, 'latin1');
        const { state, coverage } = await sealOf(changed);
        expect([place, state, coverage]).not.toEqual([place, 'intact', 'whole']);
      }
    });
  });

  describe('compared with pdfsig', { ...needs('pdfsig'), tags: ['full'] }, () => {
    // pdfsig ignores bytes after the CMS.
    it.each(TAMPERINGS.filter((how) => how !== 'trailingBytes'))(
      'gives a document with %s the same verdict',
      async (how) => {
        const sealed = await sealPdf(unsigned, await makeSealKey(), '2026-03-01T10:20:30.000Z');
        writeFileSync(at('asked.pdf'), await tampered(sealed, how));
        const said = spawnSync('pdfsig', ['-nocert', at('asked.pdf')]).stdout.toString();
        const { seal } = await checkSeal(at('asked.pdf'));
        // Without a verdict, pdfsig prints nothing for a signature, or that it can't tell.
        const [verdict] = /(?<=Signature Validation: ).*/.exec(said) ?? [];
        if (verdict === 'Signature is Valid.') expect(seal.state).toBe('intact');
        if (verdict === 'Digest Mismatch.' || verdict === 'Signature is Invalid.')
          expect(['changed', 'unreadable']).toContain(seal.state);
        if (said.includes('Not total document signed')) expect(seal.coverage).not.toBe('whole');
      },
    );

    // pdfsig does not look up certificates by their key identifier.
    it.each(WAYS.filter(([name]) => !name.startsWith('the identifier')))(
      'agrees on %s',
      async (_, subFilter, key, options) => {
        const pdf = signed(unsigned, subFilter, key, ...options);
        for (const [file, says] of [
          [pdf, 'Signature is Valid'],
          [flipped(pdf, 40), 'Digest Mismatch'],
        ] as const) {
          writeFileSync(at('asked.pdf'), file);
          const said = execFileSync('pdfsig', ['-nocert', at('asked.pdf')]).toString();
          const isValid = (await sealOf(file)).state === 'intact';
          if (said.includes('Signature Validation')) expect(said.includes(says)).toBe(true);
          expect(isValid).toBe(says === 'Signature is Valid');
        }
      },
    );
  });
});
