import { createHash, KeyObject, sign, type X509Certificate } from 'node:crypto';
import { type Issued, issue, type Wanted } from './authorities.ts';

/*
 * Makes sealed PDFs byte by byte, so that tests can forge every part of them.
 */

const text = (value: string) => Buffer.from(value, 'latin1');

/** A PDF with one page that shows a text. */
export function plainPdf(words = 'Rent 100'): Buffer {
  const contents = `BT /F1 24 Tf 20 100 Td (${words}) Tj ET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${contents.length} >>\nstream\n${contents}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ];
  const body = '%PDF-1.7\n';
  return revision(text(body), Object.fromEntries(objects.map((one, index) => [index + 1, one])));
}

/** Appends a revision with these objects, as any PDF writer does. */
export function revision(pdf: Buffer, objects: Readonly<Record<number, string>>): Buffer {
  const before = pdf.toString('latin1');
  const last = before.lastIndexOf('startxref');
  const prev = last < 0 ? '' : `/Prev ${Number.parseInt(before.slice(last + 10), 10)}`;
  const size = Math.max(sizeOf(pdf), ...Object.keys(objects).map((number) => Number(number) + 1));
  let added = '';
  let table = last < 0 ? '0 1\n0000000000 65535 f \n' : '';
  for (const [number, object] of Object.entries(objects)) {
    table += `${number} 1\n${String(pdf.length + added.length).padStart(10, '0')} 00000 n \n`;
    added += `${number} 0 obj\n${object}\nendobj\n`;
  }
  const at = pdf.length + added.length;
  const trailer = `trailer\n<< /Size ${size} /Root 1 0 R ${prev} >>\nstartxref\n${at}\n%%EOF\n`;
  return Buffer.concat([pdf, text(`${added}xref\n${table}${trailer}`)]);
}

function sizeOf(pdf: Buffer): number {
  const sizes = [...pdf.toString('latin1').matchAll(/\/Size (\d+)/g)];
  return Number(sizes.at(-1)?.[1] ?? 0);
}

/** What a test changes about the dictionary of a signature. */
export interface Around {
  subFilter?: string;
  /** Replaces the text of the byte range. */
  range?: (numbers: { gapStart: number; gapEnd: number; rest: number }) => string;
  /** Between /Contents and its value. */
  beforeGap?: string;
  /** The name of the entry with the signature. */
  contents?: string;
  /** The number of digits that the gap has. */
  room?: number;
}

/** Adds a signature in a new revision. `cms` makes it from the bytes that it covers. */
export function withSignature(pdf: Buffer, cms: (covered: Buffer) => Buffer, around: Around = {}): Buffer {
  const { subFilter = 'ETSI.CAdES.detached', contents = '/Contents', beforeGap = ' ', room = 6_000 } = around;
  const size = sizeOf(pdf);
  const [field, dict] = [size, size + 1];
  const fields = /.*\/Fields \[([^\]]*)\]/s.exec(pdf.toString('latin1'))?.[1] ?? '';
  const form = `/AcroForm << /Fields [${`${fields} ${field} 0 R`.trim()}] /SigFlags 3 >>`;
  const open = revision(pdf, {
    1: `<< /Type /Catalog /Pages 2 0 R ${form} >>`,
    [field]: `<< /FT /Sig /T (Seal${field}) /V ${dict} 0 R /Type /Annot /Subtype /Widget /Rect [0 0 0 0] >>`,
    [dict]: `<< /Type /Sig /Filter /Adobe.PPKLite /SubFilter /${subFilter} /ByteRange [0 ${' '.repeat(60)}] ${contents}${beforeGap}<${'0'.repeat(room)}> >>`,
  });
  const gapStart = open.lastIndexOf(`<${'0'.repeat(room)}>`);
  const gapEnd = gapStart + room + 2;
  const rest = open.length - gapEnd;
  const range = around.range?.({ gapStart, gapEnd, rest }) ?? `0 ${gapStart} ${gapEnd} ${rest}`;
  open.write(range.padEnd(62), open.lastIndexOf('/ByteRange [') + 12, 'latin1');
  const bytes = cms(Buffer.concat([open.subarray(0, gapStart), open.subarray(gapEnd)]));
  open.write(bytes.toString('hex'), gapStart + 1, 'latin1');
  return open;
}

/** Who seals. */
export interface Sealer {
  issued: Issued;
  x509: X509Certificate;
  key: KeyObject;
  fingerprint: string;
  /** Signs instead of Node, whose ECDSA signatures are random. */
  sign?: (data: Buffer) => Buffer;
}

export async function makeSealer(wanted: Wanted): Promise<Sealer> {
  // Valid when the documents are sealed.
  const issued = await issue({ from: Date.UTC(2026, 0, 1), to: Date.UTC(2027, 0, 1), ...wanted });
  const fingerprint = createHash('sha256').update(issued.x509.raw).digest('hex');
  return { issued, x509: issued.x509, key: KeyObject.from(issued.keys.privateKey), fingerprint };
}

/** Returns a PDF with a seal. */
export function sealed(sealer: Sealer, pdf = plainPdf()): Buffer {
  return withSignature(pdf, (covered) => cmsOf(sealer, covered));
}

// DER, without a library.
function tlv(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const { length } = body;
  const size = length < 0x80 ? [length] : length < 0x1_00_00 ? [0x82, length >> 8, length & 0xff] : [];
  if (size.length === 0)
    return Buffer.concat([Buffer.from([tag, 0x83, length >> 16, (length >> 8) & 0xff, length & 0xff]), body]);
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}
export const sequence = (...parts: readonly Buffer[]) => tlv(0x30, ...parts);
const setOf = (...parts: readonly Buffer[]) => tlv(0x31, ...parts);
export const octets = (value: Buffer) => tlv(0x04, value);
export const integer = (value: number) => tlv(0x02, Buffer.from([value]));
const explicit = (number: number, ...parts: readonly Buffer[]) => tlv(0xa0 | number, ...parts);
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [40 * first + second];
  for (const arc of rest) {
    const digits = [arc & 0x7f];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128))
      digits.unshift((left & 0x7f) | 0x80);
    bytes.push(...digits);
  }
  return tlv(0x06, Buffer.from(bytes));
}

export const OID = {
  data: '1.2.840.113549.1.7.1',
  signedData: '1.2.840.113549.1.7.2',
  timeStamp: '1.2.840.113549.1.9.16.1.4',
  contentType: '1.2.840.113549.1.9.3',
  messageDigest: '1.2.840.113549.1.9.4',
  signingTime: '1.2.840.113549.1.9.5',
  sha1: '1.3.14.3.2.26',
  sha256: '2.16.840.1.101.3.4.2.1',
  sha384: '2.16.840.1.101.3.4.2.2',
  sha512: '2.16.840.1.101.3.4.2.3',
} as const;

type Hash = 'sha1' | 'sha256' | 'sha384' | 'sha512';

/** The signature algorithms by the kind of key and the hash. */
const ALGORITHMS: Readonly<Record<'ec' | 'rsa', Readonly<Record<Hash, string>>>> = {
  ec: {
    sha1: '1.2.840.10045.4.1',
    sha256: '1.2.840.10045.4.3.2',
    sha384: '1.2.840.10045.4.3.3',
    sha512: '1.2.840.10045.4.3.4',
  },
  rsa: {
    sha1: '1.2.840.113549.1.1.5',
    sha256: '1.2.840.113549.1.1.11',
    sha384: '1.2.840.113549.1.1.12',
    sha512: '1.2.840.113549.1.1.13',
  },
};
const NULL = tlv(0x05);

function signatureAlgorithm(key: KeyObject, hash: Hash): Buffer {
  return key.asymmetricKeyType === 'rsa'
    ? sequence(oid(ALGORITHMS.rsa[hash]), NULL)
    : sequence(oid(ALGORITHMS.ec[hash]));
}

export const attribute = (type: string, ...values: readonly Buffer[]) =>
  sequence(oid(type), setOf(...values));

/** What a test changes about a CMS structure. Everything else is as a careful signer makes it. */
export interface CmsForgery {
  hash?: Hash;
  /** The hash of the signature, if it differs from that of the content. */
  signatureHash?: Hash;
  /** The bytes whose digest is signed, instead of the covered ones. */
  over?: Buffer;
  /** Puts content into the structure, which then is not detached. */
  attached?: Buffer;
  type?: string;
  /** Changes the signed attributes; null leaves them out. */
  attributes?: ((usual: Buffer[]) => Buffer[]) | null;
  /** Changes the signed attributes after they have been signed. */
  afterwards?: (signed: Buffer[]) => Buffer[];
  /** Signers in addition to the real one, before it. */
  others?: readonly Sealer[];
  certificates?: readonly Buffer[];
  /** The list of digest algorithms, which nothing signs; by default the one that is used. */
  digests?: (own: Buffer) => Buffer[];
  /** The parameters of the signer's digest algorithm, which nothing signs either. */
  digestParameters?: Buffer;
}

/** Returns a CMS signature (RFC 5652) over the covered bytes. */
export function cmsOf(sealer: Sealer, covered: Buffer, forgery: CmsForgery = {}): Buffer {
  const { hash = 'sha256', over = covered, attached, type = OID.data, others = [] } = forgery;
  const algorithm = sequence(oid(OID[hash]));
  const signers = [...others, sealer].map((one) => signerInfo(one, over, forgery));
  const certificates = forgery.certificates ?? [...others, sealer].map(({ x509 }) => x509.raw);
  const content = attached === undefined ? [] : [explicit(0, octets(attached))];
  const signed = sequence(
    integer(type === OID.data ? 1 : 3),
    setOf(...(forgery.digests?.(algorithm) ?? [algorithm])),
    sequence(oid(type), ...content),
    explicit(0, ...certificates),
    setOf(...signers),
  );
  return sequence(oid(OID.signedData), explicit(0, signed));
}

const AT = tlv(0x17, text('260301102030Z'));

function signerInfo(sealer: Sealer, over: Buffer, forgery: CmsForgery): Buffer {
  const { issued, key } = sealer;
  const { hash = 'sha256', type = OID.data, attributes = (usual) => usual, afterwards } = forgery;
  const { signatureHash = hash } = forgery;
  const digest = createHash(hash).update(over).digest();
  const usual = [
    attribute(OID.contentType, oid(type)),
    attribute(OID.signingTime, AT),
    attribute(OID.messageDigest, octets(digest)),
  ];
  const signed = attributes === null ? undefined : attributes(usual);
  const covered = signed === undefined ? over : setOf(...signed);
  const list = signed === undefined ? undefined : Buffer.concat(afterwards?.(signed) ?? signed);
  const { issuer, serialNumber } = issued.certificate;
  return sequence(
    integer(1),
    sequence(Buffer.from(issuer.toSchema().toBER()), Buffer.from(serialNumber.toBER())),
    sequence(oid(OID[hash]), ...(forgery.digestParameters ? [forgery.digestParameters] : [])),
    ...(list === undefined ? [] : [explicit(0, list)]),
    signatureAlgorithm(key, signatureHash),
    octets(sealer.sign?.(covered) ?? sign(signatureHash, covered, { key, dsaEncoding: 'der' })),
  );
}

/** Returns an RFC 3161 token over the covered bytes, from an authority that anybody can ask. */
export function timestampOf(authority: Sealer, covered: Buffer, more: CmsForgery = {}): Buffer {
  const imprint = sequence(sequence(oid(OID.sha256)), octets(createHash('sha256').update(covered).digest()));
  const at = tlv(0x18, text('20260301102031Z'));
  const info = sequence(integer(1), oid('1.2.3.4'), imprint, integer(7), at);
  return cmsOf(authority, info, { type: OID.timeStamp, attached: info, ...more });
}

/** Returns a PDF with a document timestamp after everything else. */
export function timestamped(authority: Sealer, pdf: Buffer): Buffer {
  return withSignature(pdf, (covered) => timestampOf(authority, covered), { subFilter: 'ETSI.RFC3161' });
}

/** Returns the bytes with one bit changed. */
export function flipped(bytes: Buffer, at: number): Buffer {
  const changed = Buffer.from(bytes);
  changed[at] = (changed[at] ?? 0) ^ 1;
  return changed;
}
