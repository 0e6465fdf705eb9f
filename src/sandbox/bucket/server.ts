import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { privateFolder } from '../../kernel/files.ts';
import type { ObjectWriter } from '../model.ts';
import { ObjectStore } from './object-store.ts';
import { type Call, route } from './routes.ts';
import { S3Error } from './s3-error.ts';
import { decode, parseQuery, verifySignature } from './sigv4.ts';
import { xmlDocument } from './xml.ts';

export interface BucketAccount {
  accessKeyId: string;
  secretAccessKey: string;
  /** The buckets it may use; all of them when absent. */
  buckets?: string[];
  readOnly?: boolean;
}

export interface BucketOptions {
  dir: string;
  host: string;
  /** 0 takes a free one. */
  port: number;
  region: string;
  /** Made when missing. */
  buckets: string[];
  accounts: BucketAccount[];
  /** Milliseconds since the epoch: signatures are judged by it. */
  now(): number;
}

export interface BucketServer {
  /** Like http://127.0.0.1:5010, path style. */
  endpoint: string;
  /** Straight to the store, for the service that writes the papers. */
  objects(bucket: string): ObjectWriter;
  close(): Promise<void>;
}

/** An S3-compatible endpoint over a folder. Rejects with the system's error when the port is taken. */
export async function startBucket(options: BucketOptions): Promise<BucketServer> {
  await privateFolder(options.dir);
  const store = new ObjectStore(options.dir, options.now);
  for (const name of options.buckets) await store.makeBucket(name);
  const server = createServer((request, response) => {
    void answer(request, response, store, options);
  });
  await listen(server, options);
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : options.port;
  const name = options.host === '0.0.0.0' || options.host === '::' ? '127.0.0.1' : options.host;
  return {
    endpoint: `http://${name.includes(':') ? `[${name}]` : name}:${port}`,
    objects: (bucket) => objectWriter(store, bucket),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function objectWriter(store: ObjectStore, bucket: string): ObjectWriter {
  return {
    async put(key, body, contentType) {
      await store.put(bucket, key, once(body), { contentType, metadata: {} });
    },
    async get(key) {
      const object = await store.open(bucket, key);
      return object === undefined ? null : buffer(object.read(0, object.facts.size));
    },
  };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function listen(server: Server, options: BucketOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  store: ObjectStore,
  options: BucketOptions,
): Promise<void> {
  response.setHeader('x-amz-request-id', randomBytes(8).toString('hex').toUpperCase());
  response.setHeader('server', 'esign-sandbox');
  try {
    await route(understand(request, response, store, options));
  } catch (error) {
    refuse(error, request, response);
  }
}

/** Who asks for what: the signature is verified before anything is looked at. */
function understand(
  request: IncomingMessage,
  response: ServerResponse,
  store: ObjectStore,
  options: BucketOptions,
): Call {
  const [rawPath = '/', ...rest] = (request.url ?? '/').split('?');
  const rawQuery = rest.join('?');
  const { method = 'GET', headersDistinct: headers } = request;
  const { accessKeyId, payload } = verifySignature(
    { method, rawPath, rawQuery, headers },
    {
      region: options.region,
      now: options.now(),
      secretOf: (id) => options.accounts.find((account) => account.accessKeyId === id)?.secretAccessKey,
    },
  );
  const [, rawBucket = '', ...rawKey] = rawPath.split('/');
  const bucket = decode(rawBucket);
  const account = options.accounts.find((one) => one.accessKeyId === accessKeyId);
  authorize(account, method, bucket);
  return {
    request,
    response,
    store,
    method,
    bucket,
    key: decode(rawKey.join('/')),
    query: new Map(parseQuery(rawQuery)),
    payload,
  };
}

function authorize(account: BucketAccount | undefined, method: string, bucket: string): void {
  const reads = method === 'GET' || method === 'HEAD';
  const reaches = account?.buckets === undefined || bucket === '' || account.buckets.includes(bucket);
  if (account === undefined || !reaches || (account.readOnly === true && !reads)) {
    throw new S3Error('AccessDenied', 'This account may not do that.');
  }
}

/** Errors in S3's XML; without a body for HEAD; never a stack. */
function refuse(error: unknown, request: IncomingMessage, response: ServerResponse): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const known =
    error instanceof S3Error ? error : new S3Error('InternalError', 'The sandbox could not do that.');
  const body = xmlDocument('Error', {
    Code: known.code,
    Message: known.message,
    Resource: (request.url ?? '').split('?')[0] ?? '',
    RequestId: String(response.getHeader('x-amz-request-id')),
  });
  // What is left of a refused upload is not read to its end.
  const closes =
    request.readableEnded || request.method === 'GET' || request.method === 'HEAD'
      ? {}
      : { connection: 'close' };
  response.writeHead(known.status, { 'content-type': 'application/xml', ...closes });
  response.end(request.method === 'HEAD' ? undefined : body);
}
