import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Html, html } from '../../pages/html.ts';
import type { ObjectStore } from './object-store.ts';

/** A request with a verified signature. */
export interface BucketCall {
  request: IncomingMessage;
  response: ServerResponse;
  store: ObjectStore;
  /** The requested bucket; empty for a request to the service itself. */
  bucket: string;
  /** The object's key; empty for a request to the bucket itself. */
  key: string;
  query: ReadonlyMap<string, string>;
}

/** Returns a request header that was sent once or was joined; undefined if it is absent. */
export function headerValue({ request }: BucketCall, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** Responds with an XML document. The template of the pages escapes text for XML, too. */
export function writeXml(response: ServerResponse, status: number, root: Html): void {
  const body = Buffer.from(html`<?xml version="1.0" encoding="UTF-8"?>\n${root}`.text);
  response.writeHead(status, { 'content-type': 'application/xml', 'content-length': body.length }).end(body);
}
