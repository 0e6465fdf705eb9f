import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ObjectStore } from './object-store.ts';
import type { S3Error } from './s3-error.ts';
import type { RequestSignature } from './sigv4.ts';
import { type Xml, xmlDocument } from './xml.ts';

/** A request with a verified signature, from an account that may use the bucket. */
export interface Call {
  request: IncomingMessage;
  response: ServerResponse;
  store: ObjectStore;
  region: string;
  method: string;
  /** The bucket; empty for a request to the service itself. */
  bucket: string;
  /** The object's key; empty for a request to the bucket itself. */
  key: string;
  query: ReadonlyMap<string, string>;
  verification: RequestSignature;
  /** Returns true if the account may use a bucket. Used to filter lists of all buckets. */
  mayUse(bucket: string): boolean;
}

/** Returns a request header that was sent once or was joined; undefined if it is absent. */
export function header({ request }: Call, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** Responds with 200 and an XML document. */
export function writeXml(call: Call, root: string, content: Xml | string): void {
  const body = xmlDocument(root, content);
  call.response.writeHead(200, {
    'content-type': 'application/xml',
    'content-length': Buffer.byteLength(body),
  });
  call.response.end(body);
}

/** Responds with an error as S3's XML. A HEAD request gets only the status. */
export function writeError(request: IncomingMessage, response: ServerResponse, error: S3Error): void {
  const body = xmlDocument('Error', {
    Code: error.code,
    Message: error.message,
    ...error.details,
    Resource: (request.url ?? '').split('?')[0] ?? '',
    RequestId: String(response.getHeader('x-amz-request-id')),
  });
  if (request.method === 'HEAD') {
    response.writeHead(error.status).end();
    return;
  }
  response.writeHead(error.status, {
    'content-type': 'application/xml',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}
