import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type SeenRequest, startServer } from './server.ts';

/** The credentials that commands need for a bucket that ignores them. */
export const AWS = {
  AWS_ACCESS_KEY_ID: 'AKID',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_REGION: 'us-east-1',
};

export interface StoredObject {
  bytes: Buffer;
  /** With its quotes. */
  etag: string;
  headers: Record<string, string>;
}

/** A small bucket. It serves objects with Range and conditions, as S3 does, unless the test answers a request itself. */
export interface TestBucket {
  origin: string;
  seen: SeenRequest[];
  /** Stores an object; by default its ETag is the MD5 of its bytes. */
  put(key: string, bytes: Buffer, etag?: string, headers?: Record<string, string>): void;
  /** Answers the next requests for the object; returns false to let the bucket answer. */
  fault: ((request: SeenRequest, response: ServerResponse, object: StoredObject) => boolean) | undefined;
  /** The environment of commands that use this bucket and no profile. */
  env: Record<string, string>;
  close(): Promise<void>;
}

/** Stands for an object that doesn't exist. */
const NONE: StoredObject = { bytes: Buffer.alloc(0), etag: '', headers: {} };

export async function startBucket(): Promise<TestBucket> {
  const objects = new Map<string, StoredObject>();
  const server = await startServer((request, response) => {
    const object = objects.get(decodeURIComponent(request.path).replace(/^\/b\//, ''));
    if (bucket.fault?.(request, response, object ?? NONE)) return;
    if (object === undefined) return void response.writeHead(404).end();
    serve(request, response, object);
  });
  const bucket: TestBucket = {
    origin: server.origin,
    seen: server.seen,
    put: (key, bytes, etag = md5(bytes), headers = {}) => void objects.set(key, { bytes, etag, headers }),
    fault: undefined,
    env: {
      ...AWS,
      ESIGN_BASE_URL: 'http://127.0.0.1:9/v1',
      ESIGN_API_KEY: 'sk_0123456789',
      ESIGN_BUCKET: 'b',
      ESIGN_BUCKET_ENDPOINT: server.origin,
    },
    close: server.close,
  };
  return bucket;
}

export function md5(bytes: Buffer): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`;
}

/** Responds with the object, or the part that is asked for. `sent` limits the bytes that are sent before the connection breaks. */
export function serve(
  { method, headers }: SeenRequest,
  response: ServerResponse,
  { bytes, etag, headers: more }: StoredObject,
  sent?: number,
): void {
  if (headers['if-none-match'] === etag) return void response.writeHead(304, { etag }).end();
  if (headers['if-match'] !== undefined && headers['if-match'] !== etag)
    return void response.writeHead(412).end();
  const from = Number(/bytes=(\d+)-/.exec(headers.range ?? '')?.[1] ?? 0);
  const part = bytes.subarray(from);
  const range = from > 0 ? { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` } : {};
  response.writeHead(from > 0 ? 206 : 200, { etag, 'content-length': part.length, ...range, ...more });
  if (method === 'HEAD') return void response.end();
  if (sent === undefined || sent >= part.length) return void response.end(part);
  response.write(part.subarray(0, sent), () => response.destroy());
}
