import { type Call, writeXml } from './call.ts';
import { listResult } from './list.ts';
import { deleteObject, getObject, putObject } from './objects.ts';
import { S3Error } from './s3-error.ts';

type Handler = (call: Call) => void | Promise<void>;

/** Handlers by method, and by the sub-resource in the query if there is one: `POST uploads`. */
const SERVICE: Readonly<Record<string, Handler>> = { GET: listBuckets };
const BUCKET: Readonly<Record<string, Handler>> = {
  GET: listObjects,
  'GET location': bucketLocation,
  HEAD: headBucket,
};
const OBJECT: Readonly<Record<string, Handler>> = {
  GET: getObject,
  HEAD: getObject,
  PUT: putObject,
  DELETE: deleteObject,
};

/** S3's sub-resources. Requests with one that has no handler are rejected, because ignoring it would do something else. */
const SUB_RESOURCES = new Set(
  (
    'accelerate acl analytics attributes cors delete encryption intelligent-tiering inventory legal-hold ' +
    'lifecycle location logging metrics notification object-lock ownershipControls partNumber policy ' +
    'policyStatus publicAccessBlock replication requestPayment restore retention select tagging torrent ' +
    'uploadId uploads versionId versioning versions website'
  ).split(' '),
);

/** Handles a request. @throws S3Error for requests that S3 would also reject. */
export async function route(call: Call): Promise<void> {
  const table = call.bucket === '' ? SERVICE : call.key === '' ? BUCKET : OBJECT;
  if (table === OBJECT) call.store.index(call.bucket);
  const sub = [...call.query.keys()].find((name) => SUB_RESOURCES.has(name));
  const handler = table[sub === undefined ? call.method : `${call.method} ${sub}`];
  if (handler !== undefined) await handler(call);
  else if (sub !== undefined)
    throw new S3Error('NotImplemented', `${call.method} ?${sub} is not supported here.`);
  else if (table === BUCKET && (call.method === 'PUT' || call.method === 'DELETE'))
    throw new S3Error('NotImplemented', 'Buckets are created when the sandbox starts.');
  else throw new S3Error('MethodNotAllowed', 'The specified method is not allowed against this resource.');
}

/** The region whose buckets have an empty location constraint. */
const FIRST_REGION = 'us-east-1';

/** Handles ListBuckets. Lists the buckets that the account may use. */
async function listBuckets(call: Call): Promise<void> {
  const buckets = (await call.store.buckets()).filter(({ name }) => call.mayUse(name));
  writeXml(call, 'ListAllMyBucketsResult', {
    Owner: { ID: 'sandbox', DisplayName: 'sandbox' },
    Buckets: {
      Bucket: buckets.map(({ name, createdAt }) => ({ Name: name, CreationDate: createdAt.toISOString() })),
    },
  });
}

/** Handles HeadBucket. */
function headBucket(call: Call): void {
  call.store.index(call.bucket);
  call.response.writeHead(200, { 'x-amz-bucket-region': call.region }).end();
}

/** Handles GetBucketLocation. */
function bucketLocation(call: Call): void {
  call.store.index(call.bucket);
  writeXml(call, 'LocationConstraint', call.region === FIRST_REGION ? '' : call.region);
}

/** Handles ListObjectsV2 and ListObjects. */
function listObjects(call: Call): void {
  writeXml(call, 'ListBucketResult', listResult(call.bucket, call.store.index(call.bucket), call.query));
}
