import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { codeOf } from '../../kernel/errors.ts';
import { privateFolder } from '../../kernel/files/files.ts';
import { closeServer, listenOn, originOf, reachableHost } from '../../kernel/network/listening.ts';
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
  /** The buckets that the account may use; all if absent. */
  buckets?: string[];
  readOnly?: boolean;
}

export interface BucketOptions {
  /** The data folder, with a folder for each bucket. Created if missing. */
  dir: string;
  host: string;
  /** The port; 0 selects a free one. */
  port: number;
  region: string;
  /** The buckets, created if missing. */
  buckets: string[];
  accounts: BucketAccount[];
  /** Returns the time for checking signatures, in ms since the epoch. */
  now(): number;
  /** Called first for each request, to inject faults. Returns true if it responds to the request itself. */
  intercept?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

export interface BucketServer {
  /** The endpoint for path-style requests, such as http://127.0.0.1:5010. */
  endpoint: string;
  /** Returns direct access to a bucket, for the service that writes the documents. */
  objects(bucket: string): ObjectWriter;
  /** Closes open connections. Resolves when no request is in progress. */
  close(): Promise<void>;
}

interface Endpoint {
  options: BucketOptions;
  store: ObjectStore;
}

/** The size up to which a rejected upload is read to the end, so that the client gets the error instead of a connection reset. */
const MAX_DRAINED_BYTES = 64 * 1024 * 1024;

/**
 * Starts an S3-compatible endpoint for a folder: path style, Signature Version 4, no anonymous access. Rejects with the system's error if
 * the port is in use.
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
  // Uploads that expect a 100 Continue get it only after their signature is verified.
  server.on('checkContinue', serve).on('checkExpectation', serve).on('clientError', refuseUnreadable);
  await listenOn(server, options.port, options.host);
  // From now on, an error means that a connection could not be accepted, which its client notices.
  server.on('error', () => undefined);
  return {
    endpoint: originOf(server, reachableHost(options.host)),
    objects: (bucket) => objectWriter(store, bucket),
    close: async () => {
      await closeServer(server);
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

/** Responds to a request. Never rejects. */
async function answer(request: IncomingMessage, response: ServerResponse, endpoint: Endpoint): Promise<void> {
  try {
    response.setHeader('x-amz-request-id', requestId());
    response.setHeader('server', 'esign-sandbox');
    // Clients correct their clock with this header if the server rejects their time.
    response.setHeader('date', new Date(endpoint.options.now()).toUTCString());
    if (endpoint.options.intercept?.(request, response)) return;
    await route(parseRequest(request, response, endpoint));
  } catch (error) {
    refuse(error, request, response);
  }
}

/** Parses a request, after verifying its signature. */
function parseRequest(request: IncomingMessage, response: ServerResponse, endpoint: Endpoint): Call {
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

/** Returns the path and query of a request target. A client that uses this server as a proxy sends the target with an origin. */
function targetOf(url: string): [string, string] {
  const target = url.replace(/^https?:\/\/[^/?]*/i, '');
  const mark = target.indexOf('?');
  return mark < 0 ? [target, ''] : [target.slice(0, mark), target.slice(mark + 1)];
}

/** Responds with an error as S3's XML, never with a stack trace. If the response has already started, closes the connection. */
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
