import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { listResult } from './list.ts';
import type { ObjectFacts, ObjectStore, StoredObject } from './object-store.ts';
import { parseRange } from './range.ts';
import { readBody } from './request-body.ts';
import { S3Error } from './s3-error.ts';
import { type Xml, xmlDocument } from './xml.ts';

/** One request whose signature has been verified. */
export interface Call {
  request: IncomingMessage;
  response: ServerResponse;
  store: ObjectStore;
  method: string;
  /** Empty for the service itself. */
  bucket: string;
  /** Empty for the bucket itself. */
  key: string;
  query: ReadonlyMap<string, string>;
  /** The signed x-amz-content-sha256. */
  payload: string;
}

const MAX_KEY_BYTES = 1024;
/** Sub-resources this endpoint does not have; ignoring them would do something else than was asked for. */
const UNSUPPORTED = [
  'acl',
  'policy',
  'versioning',
  'versions',
  'uploads',
  'uploadId',
  'tagging',
  'lifecycle',
  'cors',
  'delete',
  'encryption',
];

/** Does what the request asks for. @throws S3Error for what S3 would refuse, too. */
export async function route(call: Call): Promise<void> {
  const unsupported = UNSUPPORTED.find((name) => call.query.has(name));
  if (unsupported !== undefined)
    throw new S3Error('NotImplemented', `The sandbox's bucket has no ${unsupported}.`);
  if (call.bucket === '') return serviceRoute(call);
  if (!(await call.store.hasBucket(call.bucket)))
    throw new S3Error('NoSuchBucket', 'There is no such bucket.');
  if (call.key === '') return bucketRoute(call);
  if (Buffer.byteLength(call.key) > MAX_KEY_BYTES)
    throw new S3Error('KeyTooLongError', 'A key has at most 1024 bytes.');
  return objectRoute(call);
}

async function serviceRoute(call: Call): Promise<void> {
  if (call.method !== 'GET') throw new S3Error('MethodNotAllowed', 'Only GET is possible here.');
  const names = await call.store.buckets();
  writeXml(call, 'ListAllMyBucketsResult', {
    Owner: { ID: 'sandbox', DisplayName: 'sandbox' },
    Buckets: { Bucket: names.map((Name) => ({ Name, CreationDate: '2026-01-01T00:00:00.000Z' })) },
  });
}

async function bucketRoute(call: Call): Promise<void> {
  const { method, query, response } = call;
  if (method === 'HEAD') {
    response.writeHead(200).end();
  } else if (method === 'GET' && query.has('location')) {
    writeXml(call, 'LocationConstraint', {});
  } else if (method === 'GET') {
    writeXml(call, 'ListBucketResult', listResult(call.bucket, await call.store.list(call.bucket), query));
  } else {
    throw new S3Error('MethodNotAllowed', 'The buckets of the sandbox are given.');
  }
}

async function objectRoute(call: Call): Promise<void> {
  if (call.method === 'PUT') return putObject(call);
  if (call.method === 'GET' || call.method === 'HEAD') return getObject(call);
  if (call.method !== 'DELETE')
    throw new S3Error('MethodNotAllowed', 'Objects know GET, HEAD, PUT and DELETE.');
  await call.store.remove(call.bucket, call.key);
  call.response.writeHead(204).end();
}

async function putObject(call: Call): Promise<void> {
  const { headers } = call.request;
  if (headers['x-amz-copy-source'] !== undefined)
    throw new S3Error('NotImplemented', 'The sandbox does not copy objects.');
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) {
    throw new S3Error('MissingContentLength', 'The length of the body is missing.');
  }
  const body = readBody(call.request, call.payload);
  const metadata = Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      name.startsWith('x-amz-meta-') && typeof value === 'string' ? [[name, value]] : [],
    ),
  );
  const facts = { contentType: headers['content-type'] ?? 'application/octet-stream', metadata };
  const stored = await call.store.put(call.bucket, call.key, body.chunks, facts, body.check);
  call.response.writeHead(200, { etag: `"${stored.etag}"`, ...stored.checksums }).end();
}

async function getObject(call: Call): Promise<void> {
  const object = await call.store.open(call.bucket, call.key);
  if (object === undefined) throw new S3Error('NoSuchKey', 'There is no such object.');
  try {
    await sendObject(call, object);
  } finally {
    await object.close();
  }
}

async function sendObject(call: Call, object: StoredObject): Promise<void> {
  const { request, response, method } = call;
  const { facts } = object;
  const headers = objectHeaders(call, facts);
  // If-Match before Range: a resumed download must never get bytes of another object.
  if (isPreconditionFailed(request, facts))
    throw new S3Error('PreconditionFailed', 'The object is another one.');
  if (isNotModified(request, facts)) {
    response.writeHead(304, { etag: headers.etag }).end();
    return;
  }
  const range = parseRange(request.headers.range, facts.size);
  if (range === null) {
    response.setHeader('content-range', `bytes */${facts.size}`);
    throw new S3Error('InvalidRange', 'Nothing of that range exists.');
  }
  const { start, end } = range ?? { start: 0, end: facts.size };
  const partial = range === undefined ? {} : { 'content-range': `bytes ${start}-${end - 1}/${facts.size}` };
  const checksums =
    range === undefined && request.headers['x-amz-checksum-mode'] === 'ENABLED' ? facts.checksums : {};
  response.writeHead(range === undefined ? 200 : 206, {
    ...headers,
    ...partial,
    ...checksums,
    'content-length': end - start,
  });
  if (method === 'HEAD') response.end();
  else await pipeline(Readable.from(object.read(start, end)), response);
}

function objectHeaders({ query }: Call, facts: ObjectFacts) {
  const disposition = query.get('response-content-disposition');
  return {
    etag: `"${facts.etag}"`,
    'accept-ranges': 'bytes',
    'last-modified': new Date(facts.modifiedAt).toUTCString(),
    'content-type': query.get('response-content-type') ?? facts.contentType,
    ...(disposition === undefined ? {} : { 'content-disposition': disposition }),
    ...facts.metadata,
  };
}

function isPreconditionFailed({ headers }: IncomingMessage, facts: ObjectFacts): boolean {
  if (headers['if-match'] !== undefined) return !matchesEtag(headers['if-match'], facts);
  const since = Date.parse(headers['if-unmodified-since'] ?? '');
  return seconds(facts) > since;
}

function isNotModified({ headers }: IncomingMessage, facts: ObjectFacts): boolean {
  if (headers['if-none-match'] !== undefined) return matchesEtag(headers['if-none-match'], facts);
  const since = Date.parse(headers['if-modified-since'] ?? '');
  return seconds(facts) <= since;
}

/** HTTP dates have whole seconds. */
function seconds(facts: ObjectFacts): number {
  return Math.floor(Date.parse(facts.modifiedAt) / 1_000) * 1_000;
}

function matchesEtag(header: string, facts: ObjectFacts): boolean {
  return header.split(',').some((one) => one.trim() === '*' || one.trim().replaceAll('"', '') === facts.etag);
}

function writeXml(call: Call, root: string, content: Xml): void {
  call.response.writeHead(200, { 'content-type': 'application/xml' }).end(xmlDocument(root, content));
}
