import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ObjectStore } from './object-store.ts';

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

/** XML elements by name: text, a list of elements with the same name, or nested elements. Undefined elements are omitted. */
export type Xml = { [name: string]: XmlValue | XmlValue[] };
type XmlValue = string | number | boolean | undefined | Xml;

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  // A parser would read an unescaped carriage return as a line feed.
  '\r': '&#13;',
};

/** Returns an XML document with one root element. Characters that XML doesn't allow become U+FFFD. */
function xmlDocument(root: string, content: Xml | string): string {
  const namespace = root === 'Error' ? '' : ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';
  const inner = typeof content === 'string' ? escaped(content) : elements(content);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root}${namespace}>${inner}</${root}>`;
}

function elements(content: Xml): string {
  return Object.entries(content)
    .flatMap(([name, value]) =>
      Array.isArray(value) ? value.map((one) => element(name, one)) : [element(name, value)],
    )
    .join('');
}

function element(name: string, value: XmlValue): string {
  if (value === undefined) return '';
  return `<${name}>${typeof value === 'object' ? elements(value) : escaped(String(value))}</${name}>`;
}

function escaped(text: string): string {
  return text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}/gu, '\ufffd')
    .replace(/[&<>"'\r]/g, (character) => ESCAPES[character] ?? character);
}
