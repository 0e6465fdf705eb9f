import { createHmac, hash } from 'node:crypto';
import { S3Error } from './s3-error.ts';

/* The input of an AWS Signature Version 4 signature, as pure functions: the canonical request, the string to sign, and the key. */

export interface SignedRequest {
  method: string;
  /** The path as received, still percent-encoded. */
  rawPath: string;
  /** The query without the question mark, still percent-encoded. */
  rawQuery: string;
  /** The headers by lowercase name; values of repeated headers are in order. */
  headers: Readonly<Record<string, string[] | undefined>>;
}

/** The credential scope: the region, service, and date for which a signature is valid. */
export interface CredentialScope {
  /** YYYYMMDD. */
  date: string;
  region: string;
  service: string;
}

export const ALGORITHM = 'AWS4-HMAC-SHA256';
const END = 'aws4_request';

/** Returns the canonical request, which both sides hash. `payload` is the value of x-amz-content-sha256. */
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

/** Returns the string to sign, whose HMAC is the signature. `time` is YYYYMMDDTHHMMSSZ. */
export function stringToSign(time: string, scope: CredentialScope, canonical: string): string {
  // Node decodes headers as Latin-1. Encoding them as Latin-1 again gives the bytes that the client signed.
  return [ALGORITHM, time, scopeText(scope), hash('sha256', Buffer.from(canonical, 'latin1'))].join('\n');
}

function scopeText(scope: CredentialScope): string {
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

/** Percent-encodes text (RFC 3986): everything except letters, digits, and -._~, in uppercase. */
export function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Decodes percent-encoded text. @throws S3Error if the encoding is invalid or isn't UTF-8. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new S3Error('InvalidURI', "Couldn't parse the specified URI.");
  }
}

/** Returns the decoded name and value pairs in the order received. */
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
