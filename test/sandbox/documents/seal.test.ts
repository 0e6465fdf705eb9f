import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPdf } from '../../../src/sandbox/documents/pdf/pdf.ts';
import { type SealKey, sealKeyOf, sealPdf } from '../../../src/sandbox/documents/seal.ts';
import { isPrivate } from '../../support/private.ts';
import { needs } from '../../support/tools.ts';

const run = promisify(execFile);
const AT = '2026-03-01T10:20:30.000Z';
let folder: string;
let key: SealKey;
let pdf: Uint8Array;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-seal-'));
  key = await sealKeyOf(folder);
  const blank = createPdf();
  blank.addSheet();
  pdf = await blank.save({ title: 'Lease', subject: 'x', keywords: [], at: AT });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The parts of the file that the seal covers, and its CMS. */
function partsOf(pdf: Buffer): { covered: Buffer; cms: Buffer; end: number } {
  const text = pdf.toString('latin1');
  const [, a = '', b = '', c = '', d = ''] =
    /\/ByteRange\s*\[\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)/.exec(text) ?? [];
  const [from, first, second, last] = [a, b, c, d].map(Number);
  if (from === undefined || first === undefined || second === undefined || last === undefined)
    throw new Error('no seal');
  const hex = text.slice(first + 1, second - 1).replace(/(00)+$/, '');
  return {
    covered: Buffer.concat([pdf.subarray(from, from + first), pdf.subarray(second, second + last)]),
    cms: Buffer.from(hex.length % 2 === 0 ? hex : `${hex}0`, 'hex'),
    end: second + last,
  };
}

/** The result of openssl for the seal: its subject's name, or the failure. */
async function opensslOn(pdf: Buffer): Promise<string> {
  const { covered, cms } = partsOf(pdf);
  await writeFile(join(folder, 'covered'), covered);
  await writeFile(join(folder, 'cms.der'), cms);
  const words = 'cms -verify -binary -inform DER -in cms.der -content covered -noverify -out /dev/null';
  return run('openssl', words.split(' '), { cwd: folder }).then(
    ({ stderr }) => stderr,
    (error: unknown) => String(error),
  );
}

describe('the seal of a signed document', () => {
  it(
    'covers the whole file, is valid in openssl, and is invalid after a change of any byte',
    needs('openssl'),
    async () => {
      const sealed = Buffer.from(await sealPdf(pdf, key, AT));
      expect(sealed.toString('latin1')).toContain('/ETSI.CAdES.detached');
      expect(partsOf(sealed).end).toBe(sealed.length);
      expect(await opensslOn(sealed)).toContain('successful');
      const flipped = Buffer.from(sealed);
      flipped[20] = (flipped[20] ?? 0) ^ 1;
      expect(await opensslOn(flipped)).not.toContain('successful');
    },
  );

  it('is accepted by a PDF reader, which shows the sandbox as the signer', needs('pdfsig'), async () => {
    await writeFile(join(folder, 'sealed.pdf'), await sealPdf(pdf, key, AT));
    const { stdout } = await run('pdfsig', ['-nocert', join(folder, 'sealed.pdf')]);
    expect(stdout).toContain('Signature is Valid');
    expect(stdout).toContain('esign sandbox (test only)');
    expect(stdout).toContain('Total document signed');
  });

  it('has the same bytes for the same document, key, and time', async () => {
    const [one, two] = [await sealPdf(pdf, key, AT), await sealPdf(pdf, key, AT)];
    expect(Buffer.from(one).equals(Buffer.from(two))).toBe(true);
  });

  it('has a private key that survives a restart, and a certificate for fifty years', async () => {
    const again = await sealKeyOf(folder);
    expect(Buffer.from(again.certificate).equals(Buffer.from(key.certificate))).toBe(true);
    expect(isPrivate(join(folder, 'seal-key.json'))).toBe(true);
    const { validTo, subject } = new X509Certificate(key.certificate);
    expect(validTo).toContain('2070');
    expect(subject).toContain('test only');
  });
});
