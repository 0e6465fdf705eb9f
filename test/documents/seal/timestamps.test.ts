import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkSeal } from '../../../src/documents/seal/check-seal.ts';
import { flipped, objectText, partsOf } from '../../../src/sandbox/documents/tampering.ts';
import { needs } from '../../support/tools.ts';
import {
  type Around,
  at,
  blankPdf,
  createKeys,
  removeKeys,
  sealedBy,
  signature,
  signed,
  stamp,
  withStore,
} from './forging/openssl.ts';
import { stream, update, words } from './forging/writer.ts';

let sealed: Buffer;

const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const covered = () => readFileSync(at('covered'));
/** A genuine timestamp of what it covers. */
const token = () => stamp(digestOf(covered()));

/** The sealed document with an update that claims to be a document timestamp. */
function stamped(cms: () => Buffer, around: Around = {}, subFilter = 'ETSI.RFC3161'): Buffer {
  return sealedBy(sealed, subFilter, cms, around);
}

const DRAWING = 90;
const drawing = (dict = '') => stream(words('Rent 999'), `/Type /XObject /Subtype /Form ${dict}`);
const pageOf = (pdf: Buffer) =>
  Number(/(\d+) 0 obj\s*<<\s*\/Type \/Page\b/.exec(pdf.toString('latin1'))?.[1]);

const FORGED: Record<string, () => Buffer> = {
  'over other bytes': () => stamped(() => stamp(digestOf(Buffer.from('x')))),
  'over the sealed part only': () => stamped(() => stamp(digestOf(sealed))),
  'taken from another document': () => {
    const other = stamp(digestOf(Buffer.from('another')));
    return stamped(() => other);
  },
  'that is a signature by anyone': () => stamped(() => signature('ecdsa')),
  'that is a signature with its content': () => stamped(() => signature('ecdsa', '-nodetach')),
  'that claims to be a timestamp, but signs the document': () =>
    stamped(() => signature('ecdsa', '-econtent_type', '1.2.840.113549.1.9.16.1.4')),
  'that claims to be a timestamp, but contains the document': () =>
    stamped(() => signature('ecdsa', '-nodetach', '-econtent_type', '1.2.840.113549.1.9.16.1.4')),
  'in a field that announces a signature': () => stamped(token, {}, 'adbe.pkcs7.detached'),
  'of no known kind': () => stamped(token, {}, 'Mine'),
  'that is empty': () => stamped(() => Buffer.alloc(0)),
  'that is random data': () => stamped(() => Buffer.alloc(64, 0x30)),
  'that is truncated': () => stamped(() => token().subarray(0, -20)),
  'with bytes after it': () => stamped(() => Buffer.concat([token(), Buffer.from('00ff', 'hex')])),
  'with a bit changed': () => stamped(() => flipped(token(), 900)),
  'by another time': () =>
    stamped(() => {
      const bytes = token();
      return flipped(bytes, bytes.indexOf('20', bytes.indexOf(Buffer.from('180f', 'hex'))) + 3);
    }),
  'that can be seen': () => stamped(token, { rect: '[0 0 99 99]' }),
  'that shows something': () =>
    stamped(token, {
      field: `/AP << /N ${DRAWING} 0 R >>`,
      objects: { [DRAWING]: drawing('/BBox [0 0 99 99]') },
    }),
  'with an action': () => stamped(token, { field: '/A << /S /JavaScript /JS (x) >>' }),
  'that is also page content': () =>
    stamped(token, { dict: `/Data ${DRAWING} 0 R`, objects: { [DRAWING]: drawing() } }),
  'with another page': () => {
    const page = pageOf(sealed);
    const text = objectText(sealed, page).replace(/\/Contents [^/>]*/, `/Contents ${DRAWING} 0 R `);
    return stamped(token, { objects: { [page]: text, [DRAWING]: stream(words('Rent 999')) } });
  },
  'with an action of the document': () => stamped(token, { catalog: '/OpenAction [4 0 R /Fit]' }),
  'with a stray object': () => stamped(token, { objects: { [DRAWING]: '<< >>' } }),
  'over less than its update': () => {
    const pdf = stamped(token);
    return update(pdf, { [partsOf(pdf).size]: '<< >>' });
  },
  'that doesn’t cover a later update': () => {
    const pdf = stamped(token);
    return update(pdf, { [pageOf(sealed)]: '<< /Type /Page /Parent 1 0 R >>' });
  },
};

describe('a document timestamp', needs('openssl'), () => {
  beforeAll(async () => {
    createKeys();
    sealed = signed(await blankPdf(), 'ETSI.CAdES.detached', 'rsa', '-cades');
  });
  afterAll(removeKeys);

  async function judge(pdf: Buffer): Promise<string> {
    writeFileSync(at('judged.pdf'), pdf);
    const { state, coverage } = (await checkSeal(at('judged.pdf'))).seal;
    return `${state} ${coverage}`;
  }

  it('leaves the seal whole, alone and with other validation data', async () => {
    for (const pdf of [stamped(token), withStore(stamped(token)), withStore(sealed)])
      expect(await judge(pdf)).toBe('intact whole');
  });

  it('and the store of evidence raise the level of a signature that names its certificate', async () => {
    const blank = await blankPdf();
    const levelOf = async (pdf: Buffer) => {
      writeFileSync(at('judged.pdf'), pdf);
      return (await checkSeal(at('judged.pdf'))).seal.level;
    };
    const documents = [
      sealed,
      stamped(token),
      withStore(sealed),
      withStore(stamped(token)),
      signed(blank, 'ETSI.CAdES.detached', 'rsa'),
      signed(blank, 'adbe.pkcs7.detached', 'rsa', '-cades'),
    ];
    const found: (string | null)[] = [];
    for (const pdf of documents) found.push(await levelOf(pdf));
    expect(found).toEqual(['B-B', 'B-T', 'B-B', 'B-LTA', 'CMS', 'CMS']);
  });

  it.each(Object.entries(FORGED))('does not leave the seal whole if it is %s', async (_, forge) => {
    expect(await judge(forge())).not.toMatch(/^intact whole$/);
  });
});
