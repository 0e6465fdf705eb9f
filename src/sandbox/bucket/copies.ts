import { type Call, header, writeXml } from './call.ts';
import { decode } from './canonical.ts';
import {
  algorithmOf,
  type ChecksumAlgorithm,
  checksumElements,
  DEFAULT_ALGORITHM,
  summed,
} from './checksums.ts';
import { conditionsOf, judge, preconditionFailed } from './conditions.ts';
import { partNumberOf, uploadOf } from './multipart.ts';
import type { ObjectFacts, StoredObject } from './object-file.ts';
import { factsOf, guardOf, quoted, withObject } from './objects.ts';
import type { ByteRange } from './range.ts';
import { S3Error } from './s3-error.ts';

/** Whether a PUT brings no bytes but names where they are. */
export function isCopy(call: Call): boolean {
  return header(call, 'x-amz-copy-source') !== undefined;
}

/** CopyObject. */
export async function copyObject(call: Call): Promise<void> {
  const source = copySource(call);
  const replaces = header(call, 'x-amz-metadata-directive') === 'REPLACE';
  if (!replaces && source.bucket === call.bucket && source.key === call.key)
    throw new S3Error('InvalidRequest', 'An object can only be copied to itself with new metadata.');
  const given = factsOf(call);
  await withSource(call, source, async (object) => {
    const { contentType, metadata, headers, size } = object.facts;
    const stored = await call.store.put(
      call.bucket,
      call.key,
      summed(object.read(0, size), copyAlgorithm(call, object.facts)),
      replaces ? given : { contentType, metadata, headers },
      { guard: guardOf(call) },
    );
    writeResult(call, 'CopyObjectResult', stored);
  });
}

/** UploadPartCopy. */
export async function copyPart(call: Call): Promise<void> {
  const name = uploadOf(call);
  const number = partNumberOf(call);
  const source = copySource(call);
  const upload = await call.uploads.find(name);
  await withSource(call, source, async (object) => {
    const { start, end } = copyRange(call, object.facts.size);
    const body = summed(object.read(start, end), upload.algorithm);
    writeResult(call, 'CopyPartResult', await call.uploads.putPart(name, number, upload, body));
  });
}

function writeResult(call: Call, root: string, stored: ObjectFacts): void {
  writeXml(call, root, {
    LastModified: stored.modifiedAt,
    ETag: quoted(stored),
    ...checksumElements(stored.checksums),
  });
}

interface Source {
  bucket: string;
  key: string;
}

/** `bucket/key`, percent-encoded; the account must be allowed to use that bucket, too. */
function copySource(call: Call): Source {
  const text = header(call, 'x-amz-copy-source') ?? '';
  const [, bucket = '', key = ''] = /^\/?([^/?]+)\/([^?]+)$/.exec(text) ?? [];
  if (text.includes('?versionId='))
    throw new S3Error('NotImplemented', 'The buckets here keep no versions of an object.');
  if (key === '') throw new S3Error('InvalidArgument', 'Copy Source must mention the source bucket and key.');
  const source = { bucket: decode(bucket), key: decode(key) };
  if (!call.mayUse(source.bucket)) throw new S3Error('AccessDenied', 'Access Denied.');
  return source;
}

/** Opens the source where its conditions hold. */
function withSource(
  call: Call,
  { bucket, key }: Source,
  use: (object: StoredObject) => Promise<void>,
): Promise<void> {
  return withObject(call, bucket, key, async (object) => {
    const conditions = conditionsOf((name) => header(call, name), 'x-amz-copy-source-');
    if (judge(conditions, object.facts) !== 'go') throw preconditionFailed();
    await use(object);
  });
}

/** Unlike a Range, one that is not within the object is never cut to fit. */
function copyRange(call: Call, size: number): ByteRange {
  const text = header(call, 'x-amz-copy-source-range');
  if (text === undefined) return { start: 0, end: size };
  const [, first = '', last = ''] = /^bytes=(\d{1,15})-(\d{1,15})$/.exec(text) ?? [];
  if (first === '' || Number(first) > Number(last))
    throw new S3Error('InvalidArgument', 'The x-amz-copy-source-range value must be like bytes=first-last.');
  if (Number(last) >= size)
    throw new S3Error('InvalidArgument', `Range specified is not valid for source object of size: ${size}.`);
  return { start: Number(first), end: Number(last) + 1 };
}

function copyAlgorithm(call: Call, { checksums }: ObjectFacts): ChecksumAlgorithm {
  const [stored = ''] = Object.keys(checksums);
  const asked = header(call, 'x-amz-checksum-algorithm');
  return algorithmOf(asked ?? stored.replace('x-amz-checksum-', '')) ?? DEFAULT_ALGORITHM;
}
