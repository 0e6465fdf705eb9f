import { type Call, writeXml } from './call.ts';
import { listResult } from './list.ts';

/** The region whose buckets have an empty location constraint. */
const FIRST_REGION = 'us-east-1';

/** Handles ListBuckets. Lists the buckets that the account may use. */
export async function listBuckets(call: Call): Promise<void> {
  const buckets = (await call.store.buckets()).filter(({ name }) => call.mayUse(name));
  writeXml(call, 'ListAllMyBucketsResult', {
    Owner: { ID: 'sandbox', DisplayName: 'sandbox' },
    Buckets: {
      Bucket: buckets.map(({ name, createdAt }) => ({ Name: name, CreationDate: createdAt.toISOString() })),
    },
  });
}

/** Handles HeadBucket. */
export function headBucket(call: Call): void {
  call.store.index(call.bucket);
  call.response.writeHead(200, { 'x-amz-bucket-region': call.region }).end();
}

/** Handles GetBucketLocation. */
export function bucketLocation(call: Call): void {
  call.store.index(call.bucket);
  writeXml(call, 'LocationConstraint', call.region === FIRST_REGION ? '' : call.region);
}

/** Handles ListObjectsV2 and ListObjects. */
export function listObjects(call: Call): void {
  writeXml(call, 'ListBucketResult', listResult(call.bucket, call.store.index(call.bucket), call.query));
}
