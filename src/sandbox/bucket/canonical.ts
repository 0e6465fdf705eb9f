import { createHash, createHmac } from 'node:crypto';
import { S3Error } from './s3-error.ts';

/*
 * What AWS Signature Version 4 signs, as pure functions: the canonical request, the text made of its hash,
 * and the key.
 */

export interface SignedRequest {
  method: string;
  /** The path as it came over the wire, still percent-encoded. */
  rawPath: string;
  /** Without the question mark, still percent-encoded. */
  rawQuery: string;
  /** Lower-case names; values of repeated headers in order. */
  headers: Readonly<Record<string, string[] | undefined>>;
}

/** Where and when a signature counts. */
export interface CredentialScope {
  /** YYYYMMDD. */
  date: string;
  region: string;
  service: string;
}

export const ALGORITHM = 'AWS4-HMAC-SHA256';
const END = 'aws4_request';

/** The request in the one form both sides hash. `payload` is what x-amz-content-sha256 says of the body. */
export function canonicalRequest(
  request: SignedRequest,
  signedHeaders: readonly string[],
  payload: string,
): string {
  const names = [...signedHeaders].sort(compare);
  return [
    request.method,
    canonicalPath(request.rawPath),
    canonicalQuery(parseQuery(request.rawQuery).filter(([name]) => name !== 'X-Amz-Signature')),
    ...names.map((name) => `${name}:${(request.headers[name] ?? []).map(trimmed).join(',')}`),
    '',
    names.join(';'),
    payload,
  ].join('\n');
}

/** The text whose HMAC is the signature. `time` is YYYYMMDDTHHMMSSZ. */
export function stringToSign(time: string, scope: CredentialScope, canonical: string): string {
  // Node reads header bytes as Latin-1; hashed as Latin-1 they are the bytes that the client signed.
  return [ALGORITHM, time, scopeText(scope), sha256Hex(Buffer.from(canonical, 'latin1'))].join('\n');
}

export function scopeText(scope: CredentialScope): string {
  return `${scope.date}/${scope.region}/${scope.service}/${END}`;
}

export function signingKey(secret: string, scope: CredentialScope): Buffer {
  let key: Buffer = Buffer.from(`AWS4${secret}`);
  for (const part of [scope.date, scope.region, scope.service, END]) key = hmac(key, part);
  return key;
}

export function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

export function sha256Hex(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

/** RFC 3986: everything but letters, digits and -._~ is encoded, upper case. */
export function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** @throws S3Error when the percent-encoding is broken or is not UTF-8. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new S3Error('InvalidURI', "Couldn't parse the specified URI.");
  }
}

/** Name and value pairs, decoded, in the order of the wire. */
export function parseQuery(rawQuery: string): [string, string][] {
  return rawQuery
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const equals = part.indexOf('=');
      const name = equals < 0 ? part : part.slice(0, equals);
      const value = equals < 0 ? '' : part.slice(equals + 1);
      return [decode(name.replaceAll('+', ' ')), decode(value.replaceAll('+', ' '))];
    });
}

function canonicalPath(rawPath: string): string {
  return rawPath
    .split('/')
    .map((part) => encode(decode(part)))
    .join('/');
}

function canonicalQuery(query: readonly [string, string][]): string {
  return query
    .map(([name, value]): [string, string] => [encode(name), encode(value)])
    .sort(([a, x], [b, y]) => compare(a, b) || compare(x, y))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

function trimmed(value: string): string {
  return value.trim().replace(/ +/g, ' ');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
