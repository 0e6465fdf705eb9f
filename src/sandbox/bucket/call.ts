import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ObjectStore } from './object-store.ts';
import type { S3Error } from './s3-error.ts';
import type { RequestSignature } from './sigv4.ts';
import { type Xml, xmlDocument } from './xml.ts';

/** One request whose signature has been verified and whose account may touch the bucket it names. */
export interface Call {
  request: IncomingMessage;
  response: ServerResponse;
  store: ObjectStore;
  region: string;
  method: string;
  /** Empty for the service itself. */
  bucket: string;
  /** Empty for the bucket itself. */
  key: string;
  query: ReadonlyMap<string, string>;
  verification: RequestSignature;
  /** Whether the account may use a bucket: lists name all. */
  mayUse(bucket: string): boolean;
}

/** A request header that came once or was joined; undefined when absent. */
export function header({ request }: Call, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** Answers 200 with an XML document. */
export function writeXml(call: Call, root: string, content: Xml | string): void {
  const body = xmlDocument(root, content);
  call.response.writeHead(200, {
    'content-type': 'application/xml',
    'content-length': Buffer.byteLength(body),
  });
  call.response.end(body);
}

/** Answers with an error in S3's XML; a HEAD request gets the status alone. */
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
