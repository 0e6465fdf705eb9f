import { bucketLocation, headBucket, listBuckets, listObjects } from './buckets.ts';
import type { Call } from './call.ts';
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
    throw new S3Error('NotImplemented', 'Buckets are made when the sandbox starts.');
  else throw new S3Error('MethodNotAllowed', 'The specified method is not allowed against this resource.');
}
