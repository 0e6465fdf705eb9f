import { type Call, header, writeXml } from './call.ts';
import {
  algorithmOf,
  CHECKSUM_ALGORITHMS,
  checksumElement,
  checksumElements,
  checksumHeader,
  DEFAULT_ALGORITHM,
} from './checksums.ts';
import { uploadsResult } from './list-uploads.ts';
import { checksumHeaders, factsOf, guardOf, quoted } from './objects.ts';
import { MAX_BODY_BYTES, readBody, readXmlBody } from './request-body.ts';
import { S3Error } from './s3-error.ts';
import type { PartName, Upload, UploadName } from './uploads.ts';
import { childText, type XmlElement } from './xml-reader.ts';

const MAX_PARTS = 10_000;
const MAX_LISTED = 1_000;

/** CreateMultipartUpload. */
export async function beginUpload(call: Call): Promise<void> {
  const upload = { key: call.key, ...factsOf(call), ...checksumOf(call) };
  const id = await call.uploads.begin(call.bucket, upload);
  call.response.setHeader('x-amz-checksum-algorithm', upload.algorithm);
  call.response.setHeader('x-amz-checksum-type', upload.checksumType);
  writeXml(call, 'InitiateMultipartUploadResult', { Bucket: call.bucket, Key: call.key, UploadId: id });
}

/** UploadPart. */
export async function putPart(call: Call): Promise<void> {
  const name = uploadOf(call);
  const number = partNumberOf(call);
  const upload = await call.uploads.find(name);
  const body = readBody(call, { fallback: upload.algorithm });
  const stored = await call.uploads.putPart(name, number, upload, body);
  call.response.writeHead(200, { etag: quoted(stored), ...stored.checksums }).end();
}

/** ListParts. */
export async function listParts(call: Call): Promise<void> {
  const name = uploadOf(call);
  const upload = await call.uploads.find(name);
  const marker = wholeNumber(call, 'part-number-marker', 0);
  const limit = Math.min(MAX_LISTED, wholeNumber(call, 'max-parts', MAX_LISTED));
  const following = (await call.uploads.parts(name)).filter(({ number }) => number > marker);
  const listed = following.slice(0, limit);
  writeXml(call, 'ListPartsResult', {
    Bucket: name.bucket,
    Key: name.key,
    UploadId: name.id,
    PartNumberMarker: marker,
    NextPartNumberMarker: listed.at(-1)?.number ?? marker,
    MaxParts: limit,
    IsTruncated: following.length > listed.length,
    StorageClass: 'STANDARD',
    ChecksumAlgorithm: upload.algorithm,
    ChecksumType: upload.checksumType,
    Part: listed.map(({ number, facts }) => ({
      PartNumber: number,
      LastModified: facts.modifiedAt,
      ETag: quoted(facts),
      Size: facts.size,
      ...checksumElements(facts.checksums),
    })),
  });
}

/** CompleteMultipartUpload. */
export async function completeUpload(call: Call): Promise<void> {
  const name = uploadOf(call);
  await call.uploads.find(name);
  // A checksum header of this request is the whole object's, not the XML's.
  const parts = partsOf(await readXmlBody(call, { ignoresChecksum: true }));
  const stored = await call.uploads.complete(name, parts, {
    maxBytes: MAX_BODY_BYTES,
    guard: guardOf(call),
    accept: (checksums) => compareWhole(call, checksums),
  });
  writeXml(call, 'CompleteMultipartUploadResult', {
    Location: `/${name.bucket}/${name.key}`,
    Bucket: name.bucket,
    Key: name.key,
    ETag: quoted(stored),
    ...checksumElements(stored.checksums),
    ChecksumType: checksumHeaders(stored)['x-amz-checksum-type'],
  });
}

/** AbortMultipartUpload. */
export async function abortUpload(call: Call): Promise<void> {
  await call.uploads.abort(uploadOf(call));
  call.response.writeHead(204).end();
}

/** ListMultipartUploads. */
export async function listUploads(call: Call): Promise<void> {
  call.store.index(call.bucket);
  const limit = Math.min(MAX_LISTED, wholeNumber(call, 'max-uploads', MAX_LISTED));
  writeXml(
    call,
    'ListMultipartUploadsResult',
    uploadsResult(call.bucket, await call.uploads.list(call.bucket), call.query, limit),
  );
}

/** @throws S3Error InvalidArgument for what is no number of a part. */
export function partNumberOf(call: Call): number {
  const number = wholeNumber(call, 'partNumber', Number.NaN);
  if (number >= 1 && number <= MAX_PARTS) return number;
  throw new S3Error('InvalidArgument', 'Part number must be an integer between 1 and 10000, inclusive.');
}

/** The upload that a request is about. */
export function uploadOf({ bucket, key, query }: Call): UploadName {
  return { bucket, key, id: query.get('uploadId') ?? '' };
}

function checksumOf(call: Call): Pick<Upload, 'algorithm' | 'checksumType'> {
  const asked = header(call, 'x-amz-checksum-algorithm');
  const algorithm = asked === undefined ? DEFAULT_ALGORITHM : algorithmOf(asked);
  if (algorithm === undefined)
    throw new S3Error('InvalidRequest', 'Checksum algorithm provided is unsupported.');
  const isFullOnly = algorithm === 'CRC64NVME';
  const checksumType = header(call, 'x-amz-checksum-type') ?? (isFullOnly ? 'FULL_OBJECT' : 'COMPOSITE');
  const isPossible = checksumType === 'COMPOSITE' ? !isFullOnly : !algorithm.startsWith('SHA');
  if ((checksumType !== 'COMPOSITE' && checksumType !== 'FULL_OBJECT') || !isPossible)
    throw new S3Error(
      'InvalidRequest',
      `The ${checksumType} checksum type cannot be used with ${algorithm}.`,
    );
  return { algorithm, checksumType };
}

function partsOf(root: XmlElement): PartName[] {
  const parts = root.children.filter(({ name }) => name === 'Part');
  if (root.name !== 'CompleteMultipartUpload' || parts.length === 0 || parts.length > MAX_PARTS)
    throw new S3Error('MalformedXML', 'The list of parts is not one.');
  return parts.map((part) => {
    const [number, etag] = [childText(part, 'PartNumber'), childText(part, 'ETag')];
    if (number === undefined || !/^\d{1,5}$/.test(number) || etag === undefined)
      throw new S3Error('MalformedXML', 'A part needs a PartNumber and an ETag.');
    const checksums: Record<string, string> = {};
    for (const algorithm of CHECKSUM_ALGORITHMS) {
      const value = childText(part, checksumElement(algorithm));
      if (value !== undefined) checksums[checksumHeader(algorithm)] = value;
    }
    return { number: Number(number), etag, checksums };
  });
}

function compareWhole(call: Call, checksums: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(checksums)) {
    const promised = header(call, name) ?? value;
    if (promised.replace(/-\d+$/, '') !== value.replace(/-\d+$/, ''))
      throw new S3Error('BadDigest', `The ${name} you specified did not match the object.`);
  }
}

function wholeNumber({ query }: Call, name: string, otherwise: number): number {
  const text = query.get(name);
  if (text === undefined) return otherwise;
  if (!/^\d{1,9}$/.test(text)) throw new S3Error('InvalidArgument', `${name} must be a whole number.`);
  return Number(text);
}
