import { type Call, header, writeXml } from './call.ts';
import { listResult } from './list.ts';
import { readXmlBody } from './request-body.ts';
import { S3Error } from './s3-error.ts';
import { childText, type XmlElement } from './xml-reader.ts';

const MAX_DELETED = 1_000;
/** The region whose buckets name no location. */
const FIRST_REGION = 'us-east-1';

/** ListBuckets: those the account may use. */
export async function listBuckets(call: Call): Promise<void> {
  const buckets = (await call.store.buckets()).filter(({ name }) => call.mayUse(name));
  writeXml(call, 'ListAllMyBucketsResult', {
    Owner: { ID: 'sandbox', DisplayName: 'sandbox' },
    Buckets: {
      Bucket: buckets.map(({ name, createdAt }) => ({ Name: name, CreationDate: createdAt.toISOString() })),
    },
  });
}

/** CreateBucket. */
export async function createBucket(call: Call): Promise<void> {
  if (Number(header(call, 'content-length') ?? 0) > 0) {
    const location = childText(await readXmlBody(call), 'LocationConstraint') ?? FIRST_REGION;
    if (location !== call.region) {
      throw new S3Error(
        'IllegalLocationConstraintException',
        `The ${location} location constraint is incompatible: this endpoint is ${call.region}.`,
      );
    }
  }
  if (call.store.hasBucket(call.bucket))
    throw new S3Error('BucketAlreadyOwnedByYou', 'The bucket you tried to create already exists.');
  await call.store.makeBucket(call.bucket);
  call.response.writeHead(200, { location: `/${call.bucket}` }).end();
}

/** HeadBucket. */
export function headBucket(call: Call): void {
  call.store.index(call.bucket);
  call.response.writeHead(200, { 'x-amz-bucket-region': call.region }).end();
}

/** GetBucketLocation. */
export function bucketLocation(call: Call): void {
  call.store.index(call.bucket);
  writeXml(call, 'LocationConstraint', call.region === FIRST_REGION ? '' : call.region);
}

/** ListObjectsV2 and its older form. */
export function listObjects(call: Call): void {
  writeXml(call, 'ListBucketResult', listResult(call.bucket, call.store.index(call.bucket), call.query));
}

/** DeleteObjects: all that are named, or none when the list is not understood. */
export async function deleteObjects(call: Call): Promise<void> {
  call.store.index(call.bucket);
  const hasDigest = Object.keys(call.request.headers).some(
    (name) => name === 'content-md5' || name === 'x-amz-trailer' || name.startsWith('x-amz-checksum-'),
  );
  if (!hasDigest)
    throw new S3Error('InvalidRequest', 'Missing required header for this request: Content-MD5.');
  const { keys, isQuiet } = deletionOf(await readXmlBody(call));
  for (const key of keys) await call.store.remove(call.bucket, key);
  writeXml(call, 'DeleteResult', { Deleted: isQuiet ? [] : keys.map((key) => ({ Key: key })) });
}

function deletionOf(root: XmlElement): { keys: string[]; isQuiet: boolean } {
  const objects = root.children.filter(({ name }) => name === 'Object');
  const keys = objects.map((object) => {
    const other = object.children.find(({ name }) => name !== 'Key');
    if (other !== undefined) throw new S3Error('NotImplemented', `${other.name} is not supported here.`);
    return childText(object, 'Key') ?? '';
  });
  if (root.name !== 'Delete' || keys.includes('') || keys.length === 0 || keys.length > MAX_DELETED)
    throw new S3Error('MalformedXML', 'The body is not a list of 1 to 1000 keys.');
  return { keys, isQuiet: childText(root, 'Quiet') === 'true' };
}
