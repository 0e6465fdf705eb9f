import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { codeOf } from '../../kernel/errors.ts';
import { closeServer, listenOn, originOf } from '../../kernel/network/listening.ts';
import { HOST, type ObjectWriter } from '../model.ts';
import { type Call, writeXml, type Xml } from './call.ts';
import { compareKeys, ObjectStore, type StoredObjectFacts } from './object-store.ts';
import { getObject, putObject } from './objects.ts';
import { S3Error } from './s3-error.ts';
import { type BucketAccount, decode, encode, parseQuery, verifySignature } from './sigv4.ts';

export interface BucketOptions extends BucketAccount {
  /** The data folder. It has a folder for the bucket. Created if missing. */
  dir: string;
  /** The port; 0 selects a free one. */
  port: number;
  /** The name of the bucket. */
  bucket: string;
  /** Returns the time for checking signatures, in ms since the epoch. */
  now(): number;
}

export interface BucketServer {
  /** The endpoint for path-style requests, such as http://127.0.0.1:5010. */
  endpoint: string;
  /** Direct access to the bucket, for the service that writes the documents. */
  objects: ObjectWriter;
  /** Closes open connections. Resolves when no request is in progress. */
  close(): Promise<void>;
}

/**
 * Starts an S3-compatible endpoint for one bucket: path style, Signature Version 4, no anonymous access. Rejects with the system's error
 * if the port is in use.
 */
export async function startBucket(options: BucketOptions): Promise<BucketServer> {
  const store = await ObjectStore.open(join(options.dir, options.bucket), options.now);
  const working = new Set<Promise<void>>();
  const server = createServer((request, response) => {
    const work = respond({ request, response, store }, options).finally(() => working.delete(work));
    working.add(work);
  });
  await listenOn(server, options.port, HOST);
  // From now on, an error means that a connection could not be accepted, which its client notices.
  server.on('error', () => undefined);
  return {
    endpoint: originOf(server, HOST),
    objects: store,
    close: async () => {
      await closeServer(server);
      await Promise.all(working);
    },
  };
}

type Target = Pick<Call, 'request' | 'response' | 'store'>;

/** Responds to a request. Never rejects. */
async function respond(target: Target, options: BucketOptions): Promise<void> {
  const { request, response } = target;
  const requestId = randomBytes(8).toString('hex').toUpperCase();
  try {
    response.setHeader('x-amz-request-id', requestId);
    response.setHeader('server', 'esign-sandbox');
    // Clients correct their clock with this header if the server rejects their time.
    response.setHeader('date', new Date(options.now()).toUTCString());
    const call = parseRequest(target, options);
    await handlerOf(call)(call);
  } catch (error) {
    // If the response has already started, an error can only be reported by closing the connection.
    if (response.headersSent) response.destroy();
    else refuse(error, request, response, requestId);
  }
}

/** Parses a request, after verifying its signature. */
function parseRequest(target: Target, options: BucketOptions): Call {
  const { method = 'GET', headersDistinct: headers, url = '/' } = target.request;
  // A client that uses this server as a proxy sends the target with an origin.
  const [rawPath = '', ...queries] = url.replace(/^https?:\/\/[^/?]*/i, '').split('?');
  const rawQuery = queries.join('?');
  const payload = verifySignature({ method, rawPath, rawQuery, headers }, options, options.now());
  const [, bucket = '', ...key] = rawPath.split('/');
  return {
    ...target,
    region: options.region,
    ownBucket: options.bucket,
    method,
    bucket: decode(bucket),
    key: decode(key.join('/')),
    query: new Map(parseQuery(rawQuery)),
    payload,
  };
}

type Handler = (call: Call) => void | Promise<void>;

type Handlers = Readonly<Record<string, Handler>>;

const SERVICE: Handlers = { GET: listBuckets };
const BUCKET: Handlers = { GET: listObjects, HEAD: headBucket };
const OBJECT: Handlers = { GET: getObject, HEAD: getObject, PUT: putObject };
/** The query parameters of the supported operations. Any other one selects an operation that is not supported. */
const PARAMETERS =
  /^(X-Amz-.*|x-id|list-type|prefix|delimiter|max-keys|marker|start-after|continuation-token|encoding-type|fetch-owner|location)$/i;

/** Returns the handler of a request. @throws S3Error NoSuchBucket, or NotImplemented for all other operations of S3. */
function handlerOf({ method, bucket, ownBucket, key, query }: Call): Handler {
  const operation = [...query.keys()].find((name) => !PARAMETERS.test(name));
  if (operation !== undefined)
    throw new S3Error('NotImplemented', `${method} ?${operation} is not supported here.`);
  const handlers = bucket === '' ? SERVICE : key === '' ? BUCKET : OBJECT;
  const handler = handlers[method];
  if (handler === undefined) throw new S3Error('NotImplemented', `${method} is not supported here.`);
  if (bucket !== '' && bucket !== ownBucket)
    throw new S3Error('NoSuchBucket', 'The specified bucket does not exist.');
  return handler;
}

function listObjects({ response, store, bucket, region, query }: Call): void {
  if (query.has('location')) {
    writeXml(response, 200, 'LocationConstraint', region);
    return;
  }
  writeXml(response, 200, 'ListBucketResult', listResult(bucket, store.list(), query));
}

function headBucket({ response, region }: Call): void {
  response.writeHead(200, { 'x-amz-bucket-region': region }).end();
}

function listBuckets({ response, ownBucket }: Call): void {
  writeXml(response, 200, 'ListAllMyBucketsResult', {
    Owner: { ID: 'sandbox', DisplayName: 'sandbox' },
    Buckets: { Bucket: [{ Name: ownBucket, CreationDate: CREATED }] },
  });
}

/** Responds with an error as S3's XML, never with a stack trace. A HEAD request gets only the status. */
function refuse(error: unknown, request: IncomingMessage, response: ServerResponse, requestId: string): void {
  const unexpected = `The sandbox could not complete the request (${codeOf(error) ?? 'unexpected'}).`;
  const known = error instanceof S3Error ? error : new S3Error('InternalError', unexpected);
  if (request.method === 'HEAD') {
    response.writeHead(known.status).end();
    return;
  }
  writeXml(response, known.status, 'Error', {
    Code: known.code,
    Message: known.message,
    ...known.details,
    Resource: (request.url ?? '').split('?')[0] ?? '',
    RequestId: requestId,
  });
}

/** When the bucket was created. No client uses it. */
const CREATED = '2025-03-03T09:00:00.000Z';

const MAX_KEYS = 1_000;

/** Returns a page of a bucket's objects, given in order, for ListObjectsV2, or for ListObjects, which some programs still use. */
function listResult(
  bucket: string,
  objects: Iterable<StoredObjectFacts>,
  query: ReadonlyMap<string, string>,
): Xml {
  const isFirst = query.get('list-type') !== '2';
  const shown = (text: string) =>
    query.get('encoding-type') === 'url' ? text.split('/').map(encode).join('/') : text;
  const [prefix, delimiter] = [query.get('prefix') ?? '', query.get('delimiter') ?? ''];
  const [token, startAfter] = [query.get('continuation-token'), query.get('start-after')];
  const start = (isFirst ? query.get('marker') : startAfter) ?? '';
  const after = token === undefined ? start : Buffer.from(token, 'base64url').toString('utf8');
  const limit = maxKeys(query.get('max-keys'));
  const { contents, prefixes, next } = pageOf(objects, { prefix, delimiter, after, limit });
  return {
    Name: bucket,
    Prefix: shown(prefix),
    Delimiter: delimiter === '' ? undefined : shown(delimiter),
    MaxKeys: limit,
    EncodingType: query.get('encoding-type'),
    IsTruncated: next !== undefined,
    ...(isFirst
      ? { Marker: shown(start), NextMarker: next === undefined ? undefined : shown(next) }
      : {
          KeyCount: contents.length + prefixes.length,
          StartAfter: startAfter === undefined ? undefined : shown(startAfter),
          ContinuationToken: token,
          NextContinuationToken: next === undefined ? undefined : Buffer.from(next).toString('base64url'),
        }),
    Contents: contents.map((object) => ({
      Key: shown(object.key),
      LastModified: object.modifiedAt,
      ETag: `"${object.etag}"`,
      Size: object.size,
      StorageClass: 'STANDARD',
    })),
    CommonPrefixes: prefixes.map((one) => ({ Prefix: shown(one) })),
  };
}

/** Returns the objects and common prefixes of a page, and its last key if there are more pages. */
function pageOf(
  objects: Iterable<StoredObjectFacts>,
  wanted: { prefix: string; delimiter: string; after: string; limit: number },
): { contents: StoredObjectFacts[]; prefixes: string[]; next?: string } {
  const { prefix, delimiter, after, limit } = wanted;
  const contents: StoredObjectFacts[] = [];
  const prefixes: string[] = [];
  if (limit === 0) return { contents, prefixes };
  const matching = [...objects].filter(({ key }) => key.startsWith(prefix) && compareKeys(key, after) > 0);
  let next = '';
  for (const object of matching) {
    const common = commonPrefix(object.key, prefix, delimiter);
    // A common prefix is listed once, even if the previous page ended inside it.
    if (common === undefined || (common !== prefixes.at(-1) && !after.startsWith(common))) {
      if (contents.length + prefixes.length === limit) return { contents, prefixes, next };
      if (common === undefined) contents.push(object);
      else prefixes.push(common);
    }
    next = object.key;
  }
  return { contents, prefixes };
}

/** Returns the common prefix up to the next delimiter; undefined for a key without a delimiter. */
function commonPrefix(key: string, prefix: string, delimiter: string): string | undefined {
  const end = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length);
  return end < 0 ? undefined : key.slice(0, end + delimiter.length);
}

function maxKeys(text = String(MAX_KEYS)): number {
  if (!/^\d{1,9}$/.test(text)) throw new S3Error('InvalidArgument', 'max-keys must be a whole number.');
  return Math.min(MAX_KEYS, Number(text));
}
