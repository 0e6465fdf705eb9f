import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { codeOf } from '../../kernel/errors.ts';
import { privateFolder } from '../../kernel/files/files.ts';
import type { ObjectWriter } from '../model.ts';
import { type Call, writeError } from './call.ts';
import { decode, parseQuery } from './canonical.ts';
import { DEFAULT_ALGORITHM, summed } from './checksums.ts';
import { ObjectStore } from './object-store.ts';
import { expectsContinue } from './request-body.ts';
import { route } from './routes.ts';
import { S3Error } from './s3-error.ts';
import { verifySignature } from './sigv4.ts';

export interface BucketAccount {
  accessKeyId: string;
  secretAccessKey: string;
  /** The buckets it may use; all of them when absent. */
  buckets?: string[];
  readOnly?: boolean;
}

export interface BucketOptions {
  /** Made when missing; holds one folder for each bucket. */
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
  /** Sees each request first, for injecting faults; true when it answers the request itself. */
  intercept?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

export interface BucketServer {
  /** Like http://127.0.0.1:5010, path style. */
  endpoint: string;
  /** Straight to the store, for the service that writes the documents. */
  objects(bucket: string): ObjectWriter;
  /** Cuts open connections; resolves when no request is worked on any more. */
  close(): Promise<void>;
}

interface Endpoint {
  options: BucketOptions;
  store: ObjectStore;
}

/** A refused upload is read to its end up to this size, so that the client sees the reason and not a reset. */
const MAX_DRAINED_BYTES = 64 * 1024 * 1024;

/**
 * An S3-compatible endpoint over a folder: path style, Signature Version 4, nothing for the anonymous.
 * Rejects with the system's error when the port is taken.
 */
export async function startBucket(options: BucketOptions): Promise<BucketServer> {
  await privateFolder(options.dir);
  const store = await ObjectStore.open(options.dir, options.now);
  for (const name of options.buckets) await store.makeBucket(name);
  const endpoint = { options, store };
  const working = new Set<Promise<void>>();
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    const work = answer(request, response, endpoint).finally(() => working.delete(work));
    working.add(work);
  };
  const server = createServer({ requireHostHeader: false }, serve);
  // Uploads that wait for a go-ahead get it only once their signature was found right.
  server.on('checkContinue', serve).on('checkExpectation', serve).on('clientError', refuseUnreadable);
  await listen(server, options);
  return {
    endpoint: originOf(server, options),
    objects: (bucket) => objectWriter(store, bucket),
    close: async () => {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      await Promise.all(working);
    },
  };
}

function objectWriter(store: ObjectStore, bucket: string): ObjectWriter {
  return {
    async put(key, body, contentType) {
      const facts = { contentType, metadata: {}, headers: {}, byService: true } as const;
      await store.put(bucket, key, summed(once(body), DEFAULT_ALGORITHM), facts);
    },
    async get(key) {
      const object = await store.open(bucket, key);
      if (object === undefined) return null;
      try {
        return await buffer(object.read(0, object.facts.size));
      } finally {
        await object.close();
      }
    },
    clear: (keys) => store.clearOfService(bucket, keys),
    save: (folder) => store.saveOfService(bucket, folder),
    restore: (folder) => store.restoreOfService(bucket, folder),
    onMiss: (listener) =>
      store.onMiss((missed, key) => (missed === bucket ? listener(key) : Promise.resolve(false))),
  };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function listen(server: Server, options: BucketOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      // From here on an error is a connection that could not be accepted, which is for its client to notice.
      server.off('error', reject).on('error', () => undefined);
      resolve();
    });
  });
}

function originOf(server: Server, options: BucketOptions): string {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : options.port;
  const name = options.host === '0.0.0.0' || options.host === '::' ? '127.0.0.1' : options.host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/** Never rejects. */
async function answer(request: IncomingMessage, response: ServerResponse, endpoint: Endpoint): Promise<void> {
  try {
    response.setHeader('x-amz-request-id', requestId());
    response.setHeader('server', 'esign-sandbox');
    // Clients set their clock by this header when the server finds it wrong.
    response.setHeader('date', new Date(endpoint.options.now()).toUTCString());
    if (endpoint.options.intercept?.(request, response)) return;
    await route(understand(request, response, endpoint));
  } catch (error) {
    refuse(error, request, response);
  }
}

/** Who asks for what: the signature is verified before anything is looked at. */
function understand(request: IncomingMessage, response: ServerResponse, endpoint: Endpoint): Call {
  const { options, store } = endpoint;
  const { method = 'GET', headersDistinct: headers } = request;
  const [rawPath, rawQuery] = targetOf(request.url ?? '/');
  const verification = verifySignature(
    { method, rawPath, rawQuery, headers },
    {
      region: options.region,
      now: options.now(),
      secretOf: (id) => options.accounts.find((account) => account.accessKeyId === id)?.secretAccessKey,
    },
  );
  const [, rawBucket = '', ...rawKey] = rawPath.split('/');
  const bucket = decode(rawBucket);
  const account = options.accounts.find((one) => one.accessKeyId === verification.accessKeyId);
  const mayUse = (name: string) => account?.buckets === undefined || account.buckets.includes(name);
  const writes = method !== 'GET' && method !== 'HEAD';
  if ((bucket !== '' && !mayUse(bucket)) || (writes && account?.readOnly === true))
    throw new S3Error('AccessDenied', 'Access Denied.');
  return {
    ...{ request, response, store, region: options.region, method, bucket, verification, mayUse },
    key: decode(rawKey.join('/')),
    query: new Map(parseQuery(rawQuery)),
  };
}

/** Path and query of a request's target, which a client that takes this for a proxy sends with an origin. */
function targetOf(url: string): [string, string] {
  const target = url.replace(/^https?:\/\/[^/?]*/i, '');
  const mark = target.indexOf('?');
  return mark < 0 ? [target, ''] : [target.slice(0, mark), target.slice(mark + 1)];
}

/** Errors in S3's XML, never a stack; a reply that has begun is cut off. */
function refuse(error: unknown, request: IncomingMessage, response: ServerResponse): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const known =
    error instanceof S3Error
      ? error
      : new S3Error('InternalError', `The sandbox could not do that (${codeOf(error) ?? 'unexpected'}).`);
  if (!canBeDrained(request)) response.setHeader('connection', 'close');
  writeError(request, response, known);
}

function canBeDrained(request: IncomingMessage): boolean {
  if (request.readableEnded) return true;
  const { 'transfer-encoding': coding, 'content-length': length = 0 } = request.headers;
  const left = Number(coding === undefined ? length : request.headers['x-amz-decoded-content-length']);
  return left <= MAX_DRAINED_BYTES && !expectsContinue(request);
}

/** Responds to invalid HTTP, for which Node has no request. */
function refuseUnreadable(error: Error, socket: Duplex): void {
  if (!socket.writable || codeOf(error) === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status =
    codeOf(error) === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request';
  socket.end(
    `HTTP/1.1 ${status}\r\nx-amz-request-id: ${requestId()}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`,
  );
}

function requestId(): string {
  return randomBytes(8).toString('hex').toUpperCase();
}
