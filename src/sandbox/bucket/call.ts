import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ObjectStore } from './object-store.ts';
import { type Xml, xmlDocument } from './xml.ts';

/** A request with a verified signature. */
export interface Call {
  request: IncomingMessage;
  response: ServerResponse;
  store: ObjectStore;
  region: string;
  /** The name of the only bucket. */
  ownBucket: string;
  method: string;
  /** The requested bucket; empty for a request to the service itself. */
  bucket: string;
  /** The object's key; empty for a request to the bucket itself. */
  key: string;
  query: ReadonlyMap<string, string>;
  /** The signed value for the body: its SHA-256 in hex, or one of the constants for unsigned and streamed bodies. */
  payload: string;
}

/** Returns a request header that was sent once or was joined; undefined if it is absent. */
export function header({ request }: Call, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** Responds with an XML document. */
export function writeXml(
  response: ServerResponse,
  status: number,
  root: string,
  content: Xml | string,
): void {
  const body = Buffer.from(xmlDocument(root, content));
  response.writeHead(status, { 'content-type': 'application/xml', 'content-length': body.length }).end(body);
}
