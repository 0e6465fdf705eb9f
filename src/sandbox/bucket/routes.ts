import {
  bucketLocation,
  createBucket,
  deleteObjects,
  headBucket,
  listBuckets,
  listObjects,
} from './buckets.ts';
import type { Call } from './call.ts';
import { copyObject, copyPart, isCopy } from './copies.ts';
import { abortUpload, beginUpload, completeUpload, listParts, listUploads, putPart } from './multipart.ts';
import { deleteObject, getObject, putObject } from './objects.ts';
import { S3Error } from './s3-error.ts';

type Handler = (call: Call) => void | Promise<void>;

/** By method, and the sub-resource in the query where there is one: `POST uploads`. */
const SERVICE: Readonly<Record<string, Handler>> = { GET: listBuckets };
const BUCKET: Readonly<Record<string, Handler>> = {
  GET: listObjects,
  'GET location': bucketLocation,
  'GET uploads': listUploads,
  HEAD: headBucket,
  PUT: createBucket,
  'POST delete': deleteObjects,
};
const OBJECT: Readonly<Record<string, Handler>> = {
  GET: getObject,
  HEAD: getObject,
  PUT: (call) => (isCopy(call) ? copyObject(call) : putObject(call)),
  DELETE: deleteObject,
  'POST uploads': beginUpload,
  'PUT uploadId': (call) => (isCopy(call) ? copyPart(call) : putPart(call)),
  'GET uploadId': listParts,
  'POST uploadId': completeUpload,
  'DELETE uploadId': abortUpload,
};

/** S3's sub-resources: one that is missing here is refused, since ignoring it would do something else. */
const SUB_RESOURCES = new Set(
  (
    'accelerate acl analytics attributes cors delete encryption intelligent-tiering inventory legal-hold ' +
    'lifecycle location logging metrics notification object-lock ownershipControls partNumber policy ' +
    'policyStatus publicAccessBlock replication requestPayment restore retention select tagging torrent ' +
    'uploadId uploads versionId versioning versions website'
  ).split(' '),
);

/** Does what the request asks for. @throws S3Error for what S3 would refuse, too. */
export async function route(call: Call): Promise<void> {
  const table = call.bucket === '' ? SERVICE : call.key === '' ? BUCKET : OBJECT;
  if (table === OBJECT) call.store.index(call.bucket);
  const asked = [...call.query.keys()].filter((name) => SUB_RESOURCES.has(name));
  // A part number only says which part of an upload is meant.
  const [sub] = asked.filter((name) => name !== 'partNumber' || !asked.includes('uploadId'));
  const handler = table[sub === undefined ? call.method : `${call.method} ${sub}`];
  if (handler !== undefined) await handler(call);
  else if (sub !== undefined)
    throw new S3Error('NotImplemented', `${call.method} ?${sub} is not supported here.`);
  else throw new S3Error('MethodNotAllowed', 'The specified method is not allowed against this resource.');
}
