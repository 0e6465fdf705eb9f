import { execFileSync } from 'node:child_process';
import { createHash, webcrypto } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Element } from '../../../src/documents/seal/asn1.ts';
import { checkSeal, Digests } from '../../../src/documents/seal/check-seal.ts';
import { PdfBytes } from '../../../src/documents/seal/pdf-bytes.ts';
import { makeSealKey, type SealKey, sealPdf } from '../../../src/sandbox/documents/seal.ts';
import { needs } from '../../support/tools.ts';
import { DOCUMENT, documentOf, pack, stream, streamUpdate, update } from './forging/writer.ts';

let folder: string;
let key: SealKey;
const at = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'esign-genuine-'));
  key = await makeSealKey();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function sealOf(pdf: Uint8Array, by = key) {
  writeFileSync(at('sealed.pdf'), await sealPdf(pdf, by, '2026-03-01T10:20:30.000Z'));
  return (await checkSeal(at('sealed.pdf'))).seal;
}

const WHOLE = { state: 'intact', coverage: 'whole' };
const PAGE = [3, DOCUMENT[3] ?? ''] as const;

/** The certificate of a key with another serial number, whose hash has 0x1e as its second byte: the ASN.1 tag of a string. */
async function withLookalikeHash({ privateKey, certificate }: SealKey): Promise<SealKey> {
  const der = Buffer.from(certificate);
  const tbs = Element.read(der).part(0);
  const [from, serial] = [der.indexOf(tbs.raw), tbs.part(1).raw];
  const end = der.indexOf(serial) + serial.length;
  for (let number = 0; createHash('sha256').update(der).digest()[1] !== 0x1e; number++) {
    der.writeUInt32BE(number, end - 4);
    const signed = der.subarray(from, from + tbs.raw.length);
    const signature = Buffer.from(await webcrypto.subtle.sign('RSASSA-PKCS1-v1_5', privateKey, signed));
    signature.copy(der, der.length - signature.length);
  }
  return { privateKey, certificate: der };
}

/** A document whose table refers to a stream with an entry for object 4. */
function hybrid(offset: (pdf: Buffer) => number): Buffer {
  const pdf = documentOf();
  const row = Buffer.from(`01${offset(pdf).toString(16).padStart(8, '0')}0000`, 'hex').toString('latin1');
  const dict = '/Type /XRef /Size 10 /W [1 4 2] /Index [4 1] /Root 1 0 R';
  const lead = `9 0 obj\n${stream(row, dict)}\nendobj\n`;
  return update(pdf, { 5: DOCUMENT[5] ?? '' }, { lead, size: '/Size 10', trailer: `/XRefStm ${pdf.length}` });
}

describe('the seal of a genuine document', () => {
  it("is whole if its certificate's hash looks like ASN.1", async () => {
    expect(await sealOf(documentOf(), await withLookalikeHash(key))).toMatchObject(WHOLE);
  });

  it('is whole if a hybrid stream agrees with the tables', async () => {
    expect(await sealOf(hybrid((pdf) => pdf.indexOf('4 0 obj')))).toMatchObject(WHOLE);
  });

  it('is whole in a linearized document', needs('qpdf'), async () => {
    writeFileSync(at('plain.pdf'), documentOf());
    for (const objects of ['disable', 'generate']) {
      execFileSync('qpdf', ['--linearize', `--object-streams=${objects}`, at('plain.pdf'), at('linear.pdf')]);
      expect(await sealOf(readFileSync(at('linear.pdf')))).toMatchObject(WHOLE);
    }
  });
});

describe('a sealed part that readers could interpret differently', () => {
  it.each<[string, () => Buffer]>([
    ['a hybrid stream that contradicts the tables', () => hybrid((pdf) => pdf.indexOf('5 0 obj'))],
    [
      'an object stream with a duplicate object',
      () => {
        const packed = pack(
          [PAGE, [3, '<< /Type /Page >>']].map(([number, body]) => [Number(number), String(body)]),
        );
        return streamUpdate(documentOf(), {}, { packed: { ...packed, entries: [[3, 0]] } });
      },
    ],
    [
      'an object stream with another index',
      () => {
        const packed = pack([
          [5, DOCUMENT[5] ?? ''],
          [7, '<< >>'],
        ]);
        return streamUpdate(
          documentOf(),
          {},
          {
            packed: {
              ...packed,
              entries: [
                [5, 1],
                [7, 0],
              ],
            },
          },
        );
      },
    ],
  ])('is unreadable: %s', async (_, make) => {
    expect(await sealOf(make())).toMatchObject({ state: 'unreadable' });
  });
});

describe('digests', () => {
  it('are shared between signatures, and files that need many passes are refused', async () => {
    const pdf = Buffer.concat([documentOf(), Buffer.alloc(100_000)]);
    writeFileSync(at('large.pdf'), pdf);
    const bytes = PdfBytes.open(at('large.pdf'));
    const digests = new Digests(bytes);
    for (let end = 10_000; end <= 100_000; end += 1_000) {
      const range = { gapStart: end - 500, gapEnd: end - 200, end };
      const expected = createHash('sha256')
        .update(pdf.subarray(0, end - 500))
        .update(pdf.subarray(end - 200, end))
        .digest();
      expect((await digests.of('sha256', range)).equals(expected)).toBe(true);
    }
    const hostile = async () => {
      for (let count = 0; count < 50; count++)
        await new Digests(bytes).of('sha256', { gapStart: 10, gapEnd: 12, end: pdf.length });
      const shared = new Digests(bytes);
      for (let count = 0; count < 50; count++)
        await shared.of('sha256', { gapStart: 10, gapEnd: 12, end: pdf.length });
    };
    await expect(hostile()).rejects.toThrow('too complex');
    bytes.close();
  });
});
