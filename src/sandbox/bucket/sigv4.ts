import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { S3Error } from './s3-error.ts';

/*
 * AWS Signature Version 4, the verifying side: the canonical request is rebuilt from what arrived, and its
 * signature compared in constant time. Headers and presigned queries.
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

export interface Verification {
  accessKeyId: string;
  /** x-amz-content-sha256 as it was signed: a hash of the body, or one of the words for unsigned and streamed bodies. */
  payload: string;
}

export interface VerifyOptions {
  region: string;
  /** Milliseconds since the epoch. */
  now: number;
  secretOf(accessKeyId: string): string | undefined;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
const MAX_SKEW_MS = 15 * 60_000;
const MAX_EXPIRES_SECONDS = 7 * 86_400;

interface Claim {
  accessKeyId: string;
  scope: string;
  date: string;
  region: string;
  service: string;
  signedHeaders: string[];
  signature: string;
  /** YYYYMMDDTHHMMSSZ. */
  time: string;
  payload: string;
}

/**
 * Who signed the request.
 * @throws S3Error for every reason a signature is not accepted; anonymous requests are AccessDenied.
 */
export function verifySignature(request: SignedRequest, options: VerifyOptions): Verification {
  const query = parseQuery(request.rawQuery);
  const presigned = query.some(([name]) => name === 'X-Amz-Signature' || name === 'X-Amz-Algorithm');
  const claim = presigned ? presignedClaim(query) : headerClaim(request);
  const secret = options.secretOf(claim.accessKeyId);
  if (secret === undefined) throw new S3Error('InvalidAccessKeyId', 'The access key id is not known here.');
  if (claim.region !== options.region || claim.service !== 's3' || !claim.time.startsWith(claim.date)) {
    throw new S3Error(
      'AuthorizationHeaderMalformed',
      `The scope must name the region ${options.region} and the service s3.`,
    );
  }
  if (presigned) checkExpiry(query, claim.time, options.now);
  else checkSkew(claim.time, options.now);
  checkSignedHeaders(request, claim);
  const expected = signatureOf(request, query, claim, secret);
  const given = Buffer.from(claim.signature, 'latin1');
  if (given.length !== expected.length || !timingSafeEqual(given, Buffer.from(expected, 'latin1'))) {
    throw new S3Error(
      'SignatureDoesNotMatch',
      'The signature does not match: check the secret access key and how the request is signed.',
    );
  }
  return { accessKeyId: claim.accessKeyId, payload: claim.payload };
}

function headerClaim(request: SignedRequest): Claim {
  const [header] = request.headers.authorization ?? [];
  if (header === undefined) throw new S3Error('AccessDenied', 'The request is not signed.');
  if (!header.startsWith(`${ALGORITHM} `))
    throw new S3Error('AuthorizationHeaderMalformed', `Only ${ALGORITHM} is understood.`);
  const parts = new Map(
    header
      .slice(ALGORITHM.length)
      .split(',')
      .map((part): [string, string] => {
        const equals = part.indexOf('=');
        return [part.slice(0, equals).trim(), part.slice(equals + 1).trim()];
      }),
  );
  const payload = only(request, 'x-amz-content-sha256');
  if (payload === undefined) throw new S3Error('InvalidArgument', 'x-amz-content-sha256 is missing.');
  return claimOf(
    {
      credential: parts.get('Credential'),
      headers: parts.get('SignedHeaders'),
      signature: parts.get('Signature'),
    },
    only(request, 'x-amz-date'),
    payload,
  );
}

function presignedClaim(query: readonly [string, string][]): Claim {
  const value = (name: string) => query.find(([key]) => key === name)?.[1];
  if (value('X-Amz-Algorithm') !== ALGORITHM)
    throw new S3Error('InvalidArgument', `Only ${ALGORITHM} is understood.`);
  return claimOf(
    {
      credential: value('X-Amz-Credential'),
      headers: value('X-Amz-SignedHeaders'),
      signature: value('X-Amz-Signature'),
    },
    value('X-Amz-Date'),
    'UNSIGNED-PAYLOAD',
  );
}

function claimOf(
  parts: { credential: string | undefined; headers: string | undefined; signature: string | undefined },
  time: string | undefined,
  payload: string,
): Claim {
  const { credential, headers, signature } = parts;
  const fields = credential?.split('/') ?? [];
  const [accessKeyId, date, region, service, end] = fields;
  const complete = accessKeyId && date && region && service && end === 'aws4_request' && fields.length === 5;
  if (!complete || !headers || !signature || !time || Number.isNaN(epochOf(time))) {
    throw new S3Error('AuthorizationHeaderMalformed', 'The signature is not complete.');
  }
  const scope = `${date}/${region}/${service}/${end}`;
  return {
    accessKeyId,
    scope,
    date,
    region,
    service,
    signedHeaders: headers.split(';'),
    signature,
    time,
    payload,
  };
}

function only(request: SignedRequest, name: string): string | undefined {
  return request.headers[name]?.length === 1 ? request.headers[name][0] : undefined;
}

function epochOf(time: string): number {
  const parts = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/.exec(time);
  if (parts === null) return Number.NaN;
  const [, year, month, day, hour, minute, second] = parts;
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

function checkSkew(time: string, now: number): void {
  if (Math.abs(epochOf(time) - now) <= MAX_SKEW_MS) return;
  throw new S3Error(
    'RequestTimeTooSkewed',
    'The difference between the request time and the server time is too large.',
  );
}

function checkExpiry(query: readonly [string, string][], time: string, now: number): void {
  const text = query.find(([name]) => name === 'X-Amz-Expires')?.[1] ?? '';
  const seconds = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  if (!(seconds >= 1 && seconds <= MAX_EXPIRES_SECONDS))
    throw new S3Error('InvalidArgument', 'X-Amz-Expires must be 1 to 604800.');
  if (epochOf(time) - now > MAX_SKEW_MS) throw new S3Error('AccessDenied', 'The request is not valid yet.');
  if (now > epochOf(time) + seconds * 1_000) throw new S3Error('AccessDenied', 'The request has expired.');
}

/** A header that steers the request but is not signed could have been added on the way. */
function checkSignedHeaders(request: SignedRequest, claim: Claim): void {
  const signed = new Set(claim.signedHeaders);
  const unsigned = Object.keys(request.headers).find(
    (name) => name.startsWith('x-amz-') && !signed.has(name),
  );
  if (!signed.has('host') || unsigned !== undefined) {
    throw new S3Error('AccessDenied', `The header ${unsigned ?? 'host'} is not signed.`);
  }
}

function signatureOf(
  request: SignedRequest,
  query: readonly [string, string][],
  claim: Claim,
  secret: string,
): string {
  const canonical = [
    request.method,
    canonicalPath(request.rawPath),
    canonicalQuery(query.filter(([name]) => name !== 'X-Amz-Signature')),
    ...claim.signedHeaders.map((name) => `${name}:${(request.headers[name] ?? []).map(trimmed).join(',')}`),
    '',
    claim.signedHeaders.join(';'),
    claim.payload,
  ].join('\n');
  const text = [
    ALGORITHM,
    claim.time,
    claim.scope,
    createHash('sha256').update(canonical).digest('hex'),
  ].join('\n');
  return hmac(signingKey(secret, claim), text).toString('hex');
}

function signingKey(secret: string, claim: Claim): Buffer {
  let key: Buffer = Buffer.from(`AWS4${secret}`);
  for (const part of [claim.date, claim.region, claim.service, 'aws4_request']) key = hmac(key, part);
  return key;
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function trimmed(value: string): string {
  return value.trim().replace(/ +/g, ' ');
}

/** RFC 3986: everything but letters, digits and -._~ is encoded, upper case. */
export function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** @throws S3Error when the percent-encoding is broken. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new S3Error('InvalidArgument', 'The address is not valid UTF-8.');
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
      return [
        decode(name.replaceAll('+', ' ')),
        equals < 0 ? '' : decode(part.slice(equals + 1).replaceAll('+', ' ')),
      ];
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
    .sort(([a, x], [b, y]) => (a === b ? compare(x, y) : compare(a, b)))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
