import { createHash, createHmac } from 'node:crypto';

/*
 * A second, independent implementation of AWS Signature Version 4: it starts from names and values, whereas the server
 * starts from the bytes on the wire.
 */

export interface Who {
  accessKeyId: string;
  secretAccessKey: string;
  region: string;
  service: string;
}

export interface ToSign {
  method: string;
  /** Decoded, without a leading slash. */
  path: string;
  query?: Record<string, string>;
  /** Lowercase names; all are signed. `host` must be among them. */
  headers: Record<string, string>;
  /** The value of x-amz-content-sha256. */
  payload: string;
  at: Date;
}

export const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex');
const mac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/** Percent-encodes byte by byte. */
export function percent(text: string, isKept: (character: string) => boolean = () => false): string {
  return [...Buffer.from(text)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      const isPlain = /[A-Za-z0-9\-._~]/.test(character) || isKept(character);
      return isPlain ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
}

export function pathOf(path: string): string {
  return `/${percent(path, (character) => character === '/')}`;
}

/** Sorted by the encoded names, not by the pairs: `a=` comes before `a%00=`, although % is less than =. */
export function queryOf(query: Record<string, string>): string {
  const encoded = Object.fromEntries(
    Object.entries(query).map(([name, value]) => [percent(name), percent(value)]),
  );
  return Object.keys(encoded)
    .sort()
    .map((name) => `${name}=${encoded[name] ?? ''}`)
    .join('&');
}

export const basic = (at: Date) => at.toISOString().replace(/[-:]|\.\d+/g, '');

function keyOf(who: Who, day: string): Buffer {
  return mac(mac(mac(mac(`AWS4${who.secretAccessKey}`, day), who.region), who.service), 'aws4_request');
}

function scopeOf(who: Who, at: Date): string {
  return `${basic(at).slice(0, 8)}/${who.region}/${who.service}/aws4_request`;
}

function signatureOf(request: ToSign, who: Who): string {
  const names = Object.keys(request.headers).sort();
  const canonical =
    `${request.method}\n${pathOf(request.path)}\n${queryOf(request.query ?? {})}\n` +
    `${names.map((name) => `${name}:${request.headers[name]?.trim()}\n`).join('')}\n` +
    `${names.join(';')}\n${request.payload}`;
  const text = `AWS4-HMAC-SHA256\n${basic(request.at)}\n${scopeOf(who, request.at)}\n${sha256(canonical)}`;
  return mac(keyOf(who, basic(request.at).slice(0, 8)), text).toString('hex');
}

/** The headers of a request with its signature, and the target for the request line. */
export function signHeaders(
  request: ToSign,
  who: Who,
): { target: string; headers: Record<string, string>; signature: string } {
  const headers = {
    ...request.headers,
    'x-amz-date': basic(request.at),
    'x-amz-content-sha256': request.payload,
  };
  const signature = signatureOf({ ...request, headers }, who);
  const credential = `${who.accessKeyId}/${scopeOf(who, request.at)}`;
  const names = Object.keys(headers).sort().join(';');
  const query = queryOf(request.query ?? {});
  return {
    target: `${pathOf(request.path)}${query === '' ? '' : `?${query}`}`,
    headers: {
      ...headers,
      authorization: `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, Signature=${signature}`,
    },
    signature,
  };
}

/** The target of a presigned request. */
export function presign(request: Omit<ToSign, 'payload'>, who: Who, expires: number | string): string {
  const query = {
    ...request.query,
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': `${who.accessKeyId}/${scopeOf(who, request.at)}`,
    'X-Amz-Date': basic(request.at),
    'X-Amz-Expires': String(expires),
    'X-Amz-SignedHeaders': Object.keys(request.headers).sort().join(';'),
  };
  const signature = signatureOf({ ...request, query, payload: 'UNSIGNED-PAYLOAD' }, who);
  return `${pathOf(request.path)}?${queryOf(query)}&X-Amz-Signature=${signature}`;
}
