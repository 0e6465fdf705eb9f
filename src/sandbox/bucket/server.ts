import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { codeOf } from '../../kernel/errors.ts';
import { closeServer, openPort } from '../../kernel/network/listening.ts';
import { html } from '../../pages/html.ts';
import { HOST, type ObjectWriter } from '../model.ts';
import { type BucketCall, writeXml } from './call.ts';
import { listObjects } from './list.ts';
import { getObject, putObject } from './object-requests.ts';
import { ObjectStore } from './object-store.ts';
import { S3Error } from './s3-error.ts';
import { type BucketAccount, parseQuery, percentDecode, verifySignature } from './sigv4.ts';

interface BucketOptions extends BucketAccount {
  /** The data folder. It has a folder for the bucket. Created if missing. */
  dir: string;
  /** The port; 0 selects a free one. */
  port: number;
  /** The name of the only bucket. */
  bucket: string;
}

export interface BucketServer {
  /** The endpoint for path-style requests, such as http://127.0.0.1:5010. */
  endpoint: string;
  /** Direct access to the bucket, for the service that writes the documents. */
  objects: ObjectWriter;
  /** Closes open connections. */
  close(): Promise<void>;
}

/**
 * Starts an S3-compatible endpoint for one bucket: path style, Signature Version 4, no anonymous access.
 * @throws UsageError if the port can't be used.
 */
export async function startBucket(options: BucketOptions): Promise<BucketServer> {
  const store = await ObjectStore.open(join(options.dir, options.bucket));
  const server = createServer((request, response) => void respond(request, response, store, options));
  const port = { host: HOST, port: options.port, flag: '--port', what: "open the sandbox's bucket" };
  return { endpoint: await openPort(server, port), objects: store, close: () => closeServer(server) };
}

/** Responds to a request. Never rejects. */
async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  store: ObjectStore,
  options: BucketOptions,
): Promise<void> {
  try {
    const [rawPath = '', rawQuery = ''] = (request.url ?? '/').split('?');
    const { method = 'GET', headersDistinct: headers } = request;
    verifySignature({ method, rawPath, rawQuery, headers }, options, Date.now());
    const [, bucket = '', ...key] = rawPath.split('/');
    const query = new Map(parseQuery(rawQuery));
    const call = {
      request,
      response,
      store,
      bucket: percentDecode(bucket),
      key: percentDecode(key.join('/')),
      query,
    };
    await handle(call, options);
  } catch (error) {
    refuse(error, request, response);
  }
}

/** The query parameters of the supported operations. Any other one selects an operation that is not supported. */
const PARAMETERS =
  /^(X-Amz-.*|x-id|list-type|prefix|delimiter|max-keys|marker|start-after|continuation-token|encoding-type|fetch-owner)$/i;

/** @throws S3Error NoSuchBucket, or NotImplemented for all other operations of S3. */
async function handle(call: BucketCall, { bucket: own, region }: BucketOptions): Promise<void> {
  const { request, response, bucket, key, query } = call;
  const other = [...query.keys()].find((name) => !PARAMETERS.test(name));
  if (other !== undefined)
    throw new S3Error('NotImplemented', `The parameter ${other} is not supported here.`);
  if (bucket !== '' && bucket !== own)
    throw new S3Error('NoSuchBucket', 'The specified bucket does not exist.');
  switch (`${request.method} ${bucket === '' ? 'service' : key === '' ? 'bucket' : 'object'}`) {
    case 'GET service':
      return listBuckets(call, own);
    case 'GET bucket':
      return listObjects(call);
    case 'HEAD bucket':
      response.writeHead(200, { 'x-amz-bucket-region': region }).end();
      return;
    case 'GET object':
    case 'HEAD object':
      return getObject(call);
    case 'PUT object':
      return putObject(call);
    default:
      throw new S3Error('NotImplemented', `${request.method} is not supported here.`);
  }
}

function listBuckets({ response }: BucketCall, name: string): void {
  writeXml(
    response,
    200,
    html`<ListAllMyBucketsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
<Owner><ID>sandbox</ID></Owner>
<Buckets><Bucket><Name>${name}</Name><CreationDate>${CREATED}</CreationDate></Bucket></Buckets>
</ListAllMyBucketsResult>`,
  );
}

/** When the bucket was created. No client uses it. */
const CREATED = '2025-03-03T09:00:00.000Z';

/** Responds with an error as S3's XML, never with a stack trace. A HEAD request gets only the status. */
function refuse(error: unknown, request: IncomingMessage, response: ServerResponse): void {
  const unexpected = `The sandbox could not complete the request (${codeOf(error) ?? 'unexpected'}).`;
  const { status, code, message, region } =
    error instanceof S3Error ? error : new S3Error('InternalError', unexpected);
  if (request.method === 'HEAD') {
    response.writeHead(status).end();
    return;
  }
  const right = region !== undefined && html`<Region>${region}</Region>`;
  writeXml(response, status, html`<Error><Code>${code}</Code><Message>${message}</Message>${right}</Error>`);
}
