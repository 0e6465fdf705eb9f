import { createHash } from 'node:crypto';
import {
  attribute,
  type CmsForgery,
  cmsOf,
  flipped,
  integer,
  makeSealer,
  OID,
  octets,
  oid,
  plainPdf,
  revision,
  type Sealer,
  sealed,
  sequence,
  timestamped,
  timestampOf,
  withSignature,
} from '../../support/sealing.ts';

/** The expected result: the state, with the coverage of an intact seal. */
export type Expected = 'whole' | 'extended' | 'changed' | 'unsigned' | 'unreadable' | 'no PDF';

/** A file, and what checking its seal must show. */
export type Case = readonly [name: string, expected: Expected, pdf: Buffer];

export interface Signers {
  /** Who seals documents. A file that is whole and has this signer is accepted. */
  service: Sealer;
  stranger: Sealer;
  authority: Sealer;
  /** Has a key that is too short. */
  weak: Sealer;
}

export async function makeSigners(): Promise<Signers> {
  return {
    service: await makeSealer({ name: 'Service' }),
    stranger: await makeSealer({ name: 'Stranger' }),
    authority: await makeSealer({ name: 'Timestamps' }),
    weak: await makeSealer({ name: 'Weak', rsaBits: 1024 }),
  };
}

const text = (value: string) => Buffer.from(value, 'latin1');
const NULL = Buffer.from([0x05, 0x00]);
const HONEST = plainPdf('Rent 100');
const FORGED = plainPdf('Rent 999');

/** Replaces the first occurrence of a text by one of the same length. */
function swapped(pdf: Buffer, from: string, to: string): Buffer {
  const at = pdf.indexOf(from, 0, 'latin1');
  if (at < 0 || from.length !== to.length) throw new Error(`can't swap ${from}`);
  const changed = Buffer.from(pdf);
  changed.write(to, at, 'latin1');
  return changed;
}

/** The place of the last signature. */
export function gapIn(pdf: Buffer): { from: number; to: number } {
  const from = pdf.lastIndexOf('/Contents <') + '/Contents '.length;
  return { from, to: pdf.indexOf('>', from) + 1 };
}

const withPage = (pdf: Buffer) => revision(pdf, { 4: '<< /Length 0 >>\nstream\n\nendstream' });

/** Files as honest signers make them, also in unusual ways. */
export function* genuine({ service, stranger, authority }: Signers): Generator<Case> {
  const seal = (covered: Buffer) => cmsOf(service, covered);
  const own = sealed(service, HONEST);
  yield ['a seal', 'whole', own];
  const ranges: [string, string][] = [
    ['spaces', '  0   A  B   C  '],
    ['line ends', '0\nA\r\nB\nC'],
    ['leading zeros', '0 00A 00B 00C'],
  ];
  for (const [name, form] of ranges) {
    const range = ({ gapStart, gapEnd, rest }: { gapStart: number; gapEnd: number; rest: number }) =>
      form.replace('A', String(gapStart)).replace('B', String(gapEnd)).replace('C', String(rest));
    yield [`a byte range with ${name}`, 'whole', withSignature(HONEST, seal, { range })];
  }
  for (const beforeGap of ['', '\n', '   ', '\r\n\t'])
    yield [
      `${JSON.stringify(beforeGap)} before the gap`,
      'whole',
      withSignature(HONEST, seal, { beforeGap }),
    ];
  const withNull: CmsForgery = { digests: () => [sequence(oid(OID.sha256), NULL)], digestParameters: NULL };
  yield [
    'digest algorithms with NULL',
    'whole',
    withSignature(HONEST, (bytes) => cmsOf(service, bytes, withNull)),
  ];
  for (const subFilter of ['adbe.pkcs7.detached', 'ETSI.CAdES.detached', 'Unknown'])
    yield [`the type ${subFilter}`, 'whole', withSignature(HONEST, seal, { subFilter })];
  yield ['a seal over a signature', 'whole', sealed(service, sealed(stranger, HONEST))];
  yield ['a seal over a timestamp', 'whole', sealed(service, timestamped(authority, HONEST))];
  yield [
    'a seal over a signature that was changed',
    'whole',
    sealed(service, flipped(sealed(stranger, HONEST), 40)),
  ];
  yield [
    'a seal over a SHA-1 signature',
    'whole',
    sealed(
      service,
      withSignature(HONEST, (covered) => cmsOf(stranger, covered, { hash: 'sha1' })),
    ),
  ];
  yield ['a page that mentions byte ranges', 'whole', sealed(service, plainPdf('the /ByteRange of a file'))];
  const upper = Buffer.from(own);
  const { from, to } = gapIn(own);
  upper.write(own.toString('latin1', from, to).toUpperCase(), from, 'latin1');
  yield ['capital digits', 'whole', upper];

  yield ['a document without a seal', 'unsigned', HONEST];
  yield [
    'a document that mentions byte ranges',
    'unsigned',
    plainPdf('/ByteRange, /ByteRange 0, and /ByteRange<'),
  ];
  yield ['a document with only a timestamp', 'unsigned', timestamped(authority, HONEST)];
  yield ['a text', 'no PDF', text('The /ByteRange of a PDF')];

  yield ['a timestamp after the seal', 'extended', timestamped(authority, own)];
  yield ['two timestamps after the seal', 'extended', timestamped(authority, timestamped(authority, own))];
  yield [
    'validation data after the seal',
    'extended',
    revision(own, { 1: '<< /Type /Catalog /Pages 2 0 R /DSS << >> >>' }),
  ];
  const withoutCertificate = (covered: Buffer) => timestampOf(authority, covered, { certificates: [] });
  yield ['a timestamp without its certificate', 'extended', withSignature(own, withoutCertificate)];
}

/** Files that somebody changed or made up. None may be whole with the service's seal. */
export function* forgeries(signers: Signers): Generator<Case> {
  yield* additions(signers);
  yield* otherStructures(signers);
  yield* otherRanges(signers);
  yield* otherGaps(signers);
  yield* changes(signers);
}

/** Bytes added around a seal. */
function* additions({ service, stranger, authority }: Signers): Generator<Case> {
  const own = sealed(service, HONEST);
  for (const added of [
    '\n',
    ' ',
    '\0',
    '%',
    '%%EOF',
    '%%EOF\n',
    'x',
    '\n\n\n',
    'endobj',
    '<00>',
    '/Contents <00>',
  ])
    yield [`${JSON.stringify(added)} after the seal`, 'extended', Buffer.concat([own, text(added)])];
  yield ['a replaced page', 'extended', withPage(own)];
  yield ['a replaced page and a timestamp', 'extended', timestamped(authority, withPage(own))];
  yield ['a timestamp and a replaced page', 'extended', withPage(timestamped(authority, own))];
  yield ['a replaced catalog', 'extended', revision(own, { 1: '<< /Type /Catalog /Pages 2 0 R >>' })];
  yield ['another document after it', 'extended', Buffer.concat([own, FORGED])];
  yield ['the file twice', 'unreadable', Buffer.concat([own, own])];
  yield ['a replaced page with the seal of somebody else', 'whole', sealed(stranger, withPage(own))];
  for (const before of ['\n', ' ', '%', 'x', '\0', '%PDF-1.4\n', '\xEF\xBB\xBF'])
    yield [`${JSON.stringify(before)} before the file`, 'unreadable', Buffer.concat([text(before), own])];
  for (const cut of [1, 5, 10, 100]) yield [`${cut} bytes less`, 'unreadable', own.subarray(0, -cut)];
  yield ['a seal cut back to the one before', 'whole', sealed(service, own).subarray(0, own.length)];
}

/** CMS structures over the right bytes, but of the wrong kind, and a right one over other bytes. */
function* otherStructures({ service, stranger, weak, authority }: Signers): Generator<Case> {
  const signed = (name: string, forgery: CmsForgery, pdf = HONEST): Case => [
    name,
    'unreadable',
    withSignature(pdf, (covered) => cmsOf(service, covered, forgery)),
  ];
  const covered = coveredBy(sealed(service, HONEST));
  // The signature covers its attached content, whatever the file is.
  yield signed('the old content attached to new content', { attached: covered, over: covered }, FORGED);
  yield signed('its own content attached', { attached: covered });
  yield signed('empty content attached', { attached: Buffer.alloc(0) });
  yield signed('no signed attributes', { attributes: null });
  yield signed('no signed attributes, over old content', { attributes: null, over: covered }, FORGED);
  yield signed('SHA-1', { hash: 'sha1' });
  yield signed('SHA-1 in the digest', { hash: 'sha1', signatureHash: 'sha256' });
  yield signed('SHA-1 in the signature', { signatureHash: 'sha1' });
  yield signed('two signers', { others: [stranger] });
  yield signed('two signers, the service first', { others: [service, stranger] });
  yield signed('no certificates', { certificates: [] });
  yield signed('the certificate of somebody else', { certificates: [stranger.x509.raw] });
  yield signed('bytes that are not a certificate', { certificates: [oid('1.2.3')] });
  // Nothing signs the digest algorithms, and readers show their text as the content of a note that names the seal.
  const odd = sequence(oid(OID.sha256), octets(text('(The price was amended)')));
  yield signed('a second digest algorithm', { digests: (own) => [own, sequence(oid(OID.sha1))] });
  yield signed('its digest algorithm twice', { digests: (own) => [own, own] });
  yield signed('a text in its list of digest algorithms', { digests: (own) => [own, odd] });
  yield signed('parameters of its digest algorithm', { digests: () => [odd] });
  yield signed('a text after the NULL of its digest algorithm', {
    digests: () => [sequence(oid(OID.sha256), NULL, octets(text('x')))],
  });
  yield signed('parameters of the digest algorithm of its signer', { digestParameters: octets(text('x')) });
  yield signed('no digest algorithm', { digests: () => [] });
  yield signed('an unknown content type', { type: '1.2.3.4' });
  yield signed('the content type of a timestamp, detached', { type: OID.timeStamp });
  const digest = attribute(OID.messageDigest, octets(Buffer.alloc(32)));
  const type = attribute(OID.contentType, oid(OID.data));
  const attributes: [string, NonNullable<CmsForgery['attributes']>][] = [
    ['no attributes', () => []],
    ['no digest', (usual) => usual.slice(0, 2)],
    ['no content type', (usual) => usual.slice(1)],
    ['another content type', (usual) => [attribute(OID.contentType, oid(OID.timeStamp)), ...usual.slice(1)]],
    ['a second digest', (usual) => [...usual, digest]],
    ['a second digest before it', (usual) => [digest, ...usual]],
    ['a second content type', (usual) => [...usual, type]],
    [
      'a digest of two values',
      ([one = type, two = type]) => [
        one,
        two,
        attribute(OID.messageDigest, octets(Buffer.alloc(32)), octets(Buffer.alloc(32))),
      ],
    ],
    ['a digest without a value', ([one = type, two = type]) => [one, two, attribute(OID.messageDigest)]],
    [
      'a digest that is a number',
      ([one = type, two = type]) => [one, two, attribute(OID.messageDigest, integer(1))],
    ],
  ];
  for (const [name, change] of attributes) yield signed(name, { attributes: change });
  yield ['a key that is too short', 'unreadable', sealed(weak, HONEST)];
  yield ['a seal of somebody else', 'whole', sealed(stranger, FORGED)];
  const other: [string, Expected, (cms: Buffer) => Buffer][] = [
    ['nothing', 'unreadable', () => Buffer.alloc(0)],
    ['a number', 'unreadable', () => integer(1)],
    ['bytes after it', 'unreadable', (cms) => Buffer.concat([cms, text('x')])],
    ['bytes after it, behind zeros', 'unreadable', (cms) => Buffer.concat([cms, Buffer.alloc(9), text('x')])],
    ['a second structure after it', 'unreadable', (cms) => Buffer.concat([cms, cms])],
    ['zeros before it', 'unreadable', (cms) => Buffer.concat([Buffer.alloc(4), cms])],
    ['a length that is too long', 'unreadable', (cms) => flipped(cms, 2)],
  ];
  for (const [name, expected, change] of other)
    yield [`${name} in the gap`, expected, withSignature(HONEST, (bytes) => change(cmsOf(service, bytes)))];
  yield ['an old signature on new content', 'changed', withSignature(FORGED, () => cmsOf(service, covered))];
  // The digest is right, and the signature is over another one.
  const replaced = (bytes: Buffer): CmsForgery => ({
    over: covered,
    afterwards: ([type = Buffer.alloc(0), time = Buffer.alloc(0)]) => [
      type,
      time,
      attribute(OID.messageDigest, octets(createHash('sha256').update(bytes).digest())),
    ],
  });
  yield [
    'a digest that was replaced after signing',
    'changed',
    withSignature(FORGED, (bytes) => cmsOf(service, bytes, replaced(bytes))),
  ];
  yield [
    'the digest of other content',
    'changed',
    withSignature(FORGED, (bytes) => cmsOf(service, bytes, { over: covered })),
  ];
  const asService: CmsForgery = { certificates: [service.x509.raw] };
  yield [
    'the signature of somebody else with the service as its certificate',
    'unreadable',
    withSignature(HONEST, (bytes) => cmsOf(stranger, bytes, asService)),
  ];
  const broken = (bytes: Buffer) => flipped(cmsOf(service, bytes), 3);
  yield ['a broken signature after the seal', 'unreadable', withSignature(sealed(service, HONEST), broken)];
  yield [
    'a broken timestamp after the seal',
    'unreadable',
    withSignature(sealed(service, HONEST), (bytes) => flipped(timestampOf(authority, bytes), 3)),
  ];
}

/** Returns the bytes that the last signature covers. */
function coveredBy(pdf: Buffer): Buffer {
  const { from, to } = gapIn(pdf);
  return Buffer.concat([pdf.subarray(0, from), pdf.subarray(to)]);
}

/** Byte ranges that a signer doesn't write. */
function* otherRanges({ service }: Signers): Generator<Case> {
  const forms = [
    '1 A B C',
    '-0 A B C',
    '+0 A B C',
    '0.0 A B C',
    '0 A B',
    '0 A B C 0',
    '0 A B C D',
    '',
    '0',
    '0 A.0 B C',
    '0 +A B C',
    '0 A B C R',
    '0 A B 5 0 R',
    '0 A B (C)',
    '[0 A B C',
    '0 A B %\nC',
    '0,A,B,C',
    '0 B A C',
    '0 A A C',
    '0 0 B C',
    '0 A B 99999999',
    '0 A B 9007199254740993',
    '0 A B -1',
    '0 a B C',
    '0 A b C',
    '0 A-1 B C',
    '0 A+1 B C',
    '0 A B-1 C',
    '0 A B+1 C',
    '0 A B C/N',
    '<< >>',
    '0 A B C null',
    '(0 A B C)',
    '0 A B 1e3',
  ];
  for (const form of forms) {
    const range = ({ gapStart, gapEnd, rest }: { gapStart: number; gapEnd: number; rest: number }) =>
      form
        .replace('A-1', String(gapStart - 1))
        .replace('A+1', String(gapStart + 1))
        .replace('B-1', String(gapEnd - 1))
        .replace('B+1', String(gapEnd + 1))
        .replace('A', String(gapStart))
        .replace('A', String(gapStart))
        .replace('B', String(gapEnd))
        .replace('C', String(rest));
    const make = (pdf: Buffer) => withSignature(pdf, (covered) => cmsOf(service, covered), { range });
    yield [`the byte range [${form}]`, 'unreadable', make(HONEST)];
    yield [`the byte range [${form}] after a seal`, 'unreadable', make(sealed(service, HONEST))];
    yield [`the byte range [${form}] before a seal`, 'unreadable', sealed(service, make(HONEST))];
  }
  for (const planted of [
    '/ByteRange [0 1 2 3]',
    '/ByteRange[',
    '/ByteRange \n [',
    '/ByteRange/ByteRange[0 9 18 27]',
  ]) {
    yield [`${JSON.stringify(planted)} in a sealed page`, 'unreadable', sealed(service, plainPdf(planted))];
    yield [
      `${JSON.stringify(planted)} after the seal`,
      'unreadable',
      Buffer.concat([sealed(service, HONEST), text(planted)]),
    ];
    yield [`${JSON.stringify(planted)} in a text`, 'unreadable', text(planted)];
  }
  let many = HONEST;
  for (let count = 0; count < 51; count++) many = Buffer.concat([many, text('/ByteRange [0 1 2 3]')]);
  yield ['more byte ranges than any file has', 'unreadable', many];
  yield ['a gap that was moved to a place that the author prepared', 'unreadable', movedGap(service)];
}

/**
 * A signature moved to another place of the same file. The author plants a byte range in the document before it is sealed: with the
 * signature behind it, all other bytes are the same ones in the same order.
 */
function movedGap(service: Sealer): Buffer {
  const plant = (numbers: readonly number[]) =>
    revision(HONEST, {
      6: `<< /Type /Sig /ByteRange [0 ${numbers.map((one) => String(one).padStart(10, '0')).join(' ')}] /Contents  >>`,
    });
  const at = plant([0, 0, 0]).indexOf('/Contents  >>') + '/Contents '.length;
  const draft = sealed(service, plant([0, 0, 0]));
  const gap = gapIn(draft);
  const length = gap.to - gap.from;
  const final = sealed(service, plant([at, at + length, draft.length - length - at]));
  const taken = gapIn(final);
  return Buffer.concat([
    final.subarray(0, at),
    final.subarray(taken.from, taken.to),
    final.subarray(at, taken.from),
    final.subarray(taken.to),
  ]);
}

/** Gaps that hold something else than one signature. */
function* otherGaps({ service }: Signers): Generator<Case> {
  const own = sealed(service, HONEST);
  const { from, to } = gapIn(own);
  const writes: [string, number, string][] = [
    ['a space in it', from + 5, ' '],
    ['a space before its end', to - 2, ' '],
    ['a line end in it', from + 100, '\n'],
    ['an end in it', from + 4_000, '>'],
    ['a begin in it', from + 4_000, '<'],
    ['a letter that is not a digit', from + 9, 'g'],
    ['another begin', from, '('],
    ['another end', to - 1, ')'],
    ['no begin', from, ' '],
    ['no end', to - 1, ' '],
  ];
  for (const [name, at, sign] of writes) {
    const changed = Buffer.from(own);
    changed.write(sign, at, 'latin1');
    yield [`${name} (gap)`, 'unreadable', changed];
  }
  for (const contents of ['/Content ', '/Contentz', 'xContents', '/C#6fntent'])
    yield [
      `${contents} before the gap`,
      'unreadable',
      withSignature(HONEST, (covered) => cmsOf(service, covered), { contents }),
    ];
  yield [
    'a comment before the gap',
    'unreadable',
    withSignature(HONEST, (covered) => cmsOf(service, covered), { beforeGap: ' %\n' }),
  ];
  for (const word of ['/Byte#52ng', '/byteRange', '/ByteRangs', '/ByteRanga'])
    yield [`${word} instead of a byte range`, 'unsigned', swapped(own, '/ByteRange', word)];
}

/** One bit changed in a sealed file. */
function* changes({ service }: Signers): Generator<Case> {
  const own = sealed(service, HONEST);
  const { to } = gapIn(own);
  const frame = own.lastIndexOf('/ByteRange');
  for (let at = 0; at < own.length; at += 23) {
    // Changes of the header, the byte range, and the gap make it unreadable or unsigned; the nightly run covers each of them.
    if (at < 5 || (at >= frame && at < to)) continue;
    yield [`a bit of byte ${at}`, 'changed', flipped(own, at)];
  }
}
