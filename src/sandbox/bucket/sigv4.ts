import { createHmac, hash } from 'node:crypto';
import { S3Error } from './s3-error.ts';

/*
 * Verification of AWS Signature Version 4, in headers and presigned queries: the canonical request is rebuilt from the received request,
 * and its signature is compared.
 */

/** The account that may use the bucket. */
export interface BucketAccount {
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
}

const UNSIGNED = 'UNSIGNED-PAYLOAD';
const MAX_SKEW_MS = 15 * 60_000;
const MAX_EXPIRES_SECONDS = 7 * 86_400;

/** The parts of a signature, from the header or the query. */
interface Claim {
  /** The lifetime of a presigned request; undefined if the signature is in the header. */
  expires: string | undefined;
  accessKeyId: string;
  /** The date (YYYYMMDD), region, and service for which the signature is valid, and a constant. */
  scope: readonly [date: string, region: string, service: string, end: string];
  signedHeaders: string[];
  signature: string;
  /** YYYYMMDDTHHMMSSZ. */
  time: string;
  payload: string;
}

/**
 * Verifies a request's signature, which covers the body's hash, but not the body. `now` is in ms since the epoch.
 * @throws S3Error if the signature isn't accepted; AccessDenied for anonymous requests.
 */
export function verifySignature(request: SignedRequest, account: BucketAccount, now: number): void {
  const claim = claimOf(request);
  if (claim.accessKeyId !== account.accessKeyId)
    throw new S3Error('InvalidAccessKeyId', 'The AWS access key Id you provided does not exist here.');
  checkScope(claim, account.region);
  checkTime(claim, now);
  const canonical = canonicalRequest(request, claim.signedHeaders, claim.payload);
  const key = signingKey(account.secretAccessKey, claim);
  const expected = hmac(key, stringToSign(claim, canonical)).toString('hex');
  if (claim.signature === expected) return;
  throw new S3Error(
    'SignatureDoesNotMatch',
    'The signature does not match: check the secret access key and how the request is signed.',
  );
}

function claimOf(request: SignedRequest): Claim {
  const query = new Map(parseQuery(request.rawQuery));
  const authorization = request.headers.authorization?.[0];
  const isPresigned = query.has('X-Amz-Signature');
  if (!isPresigned && authorization === undefined)
    throw new S3Error('AccessDenied', 'The request is not signed.');
  const fields = new Map((authorization ?? '').replace(ALGORITHM, '').split(',').map(fieldOf));
  const part = (name: string, own = fields.get(name)) =>
    (isPresigned ? query.get(`X-Amz-${name}`) : own) ?? '';
  const payload =
    part('Content-Sha256', request.headers['x-amz-content-sha256']?.[0]) || (isPresigned ? UNSIGNED : '');
  const time = part('Date', request.headers['x-amz-date']?.[0]);
  const [credential, accessKeyId = '', date = '', region = '', service = '', end = ''] =
    /^([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/(aws4_request)$/.exec(part('Credential')) ?? [];
  const isSupported = isPresigned
    ? query.get('X-Amz-Algorithm') === ALGORITHM
    : authorization?.startsWith(ALGORITHM);
  if (!isSupported || !credential || !payload || !time.startsWith(date) || Number.isNaN(epochOf(time)))
    throw malformed(isPresigned, `The signature is incomplete or malformed. Only ${ALGORITHM} is supported.`);
  return {
    expires: isPresigned ? part('Expires') : undefined,
    accessKeyId,
    scope: [date, region, service, end],
    signedHeaders: part('SignedHeaders').toLowerCase().split(';'),
    signature: part('Signature'),
    time,
    payload,
  };
}

function fieldOf(part: string): [string, string] {
  const equals = part.indexOf('=');
  return [part.slice(0, equals).trim(), part.slice(equals + 1).trim()];
}

function malformed(isPresigned: boolean, message: string, region?: string): S3Error {
  const code = isPresigned ? 'AuthorizationQueryParametersError' : 'AuthorizationHeaderMalformed';
  return new S3Error(code, message, region);
}

/** Converts YYYYMMDDTHHMMSSZ to ms since the epoch; NaN for any other text. */
function epochOf(time: string): number {
  const pattern = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/;
  return pattern.test(time) ? Date.parse(time.replace(pattern, '$1-$2-$3T$4:$5:$6Z')) : Number.NaN;
}

function checkScope({ scope: [, given, service], expires }: Claim, region: string): void {
  if (given === region && service === 's3') return;
  const message = `The credential scope is ${given}/${service}; expected ${region}/s3.`;
  throw malformed(expires !== undefined, message, region);
}

function checkTime({ time, expires }: Claim, now: number): void {
  const age = now - epochOf(time);
  if (expires === undefined) {
    if (Math.abs(age) <= MAX_SKEW_MS) return;
    throw new S3Error(
      'RequestTimeTooSkewed',
      'The difference between the request time and the current time is too large.',
    );
  }
  const seconds = /^\d{1,6}$/.test(expires) ? Number(expires) : Number.NaN;
  if (!(seconds >= 1 && seconds <= MAX_EXPIRES_SECONDS))
    throw malformed(true, 'X-Amz-Expires must be 1 to 604800 seconds.');
  if (age < -MAX_SKEW_MS) throw new S3Error('AccessDenied', 'Request is not yet valid.');
  if (age > seconds * 1_000) throw new S3Error('AccessDenied', 'Request has expired.');
}

/* The input of an AWS Signature Version 4 signature, as pure functions: the canonical request, the string to sign, and the key. */

interface SignedRequest {
  method: string;
  /** The path as received, still percent-encoded. */
  rawPath: string;
  /** The query without the question mark, still percent-encoded. */
  rawQuery: string;
  /** The headers by lowercase name; values of repeated headers are in order. */
  headers: Readonly<Record<string, string[] | undefined>>;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/** Returns the canonical request, which both sides hash. `payload` is the value of x-amz-content-sha256. */
function canonicalRequest(request: SignedRequest, signedHeaders: readonly string[], payload: string): string {
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

/** Returns the string to sign, whose HMAC is the signature. */
function stringToSign({ time, scope }: Claim, canonical: string): string {
  // Node decodes headers as Latin-1. Encoding them as Latin-1 again gives the bytes that the client signed.
  return [ALGORITHM, time, scope.join('/'), hash('sha256', Buffer.from(canonical, 'latin1'))].join('\n');
}

function signingKey(secret: string, { scope }: Claim): Buffer {
  return scope.reduce(hmac, Buffer.from(`AWS4${secret}`));
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

/** Percent-encodes text (RFC 3986): everything except letters, digits, and -._~, in uppercase. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Decodes percent-encoded text. @throws S3Error if the encoding is invalid or isn't UTF-8. */
export function percentDecode(text: string): string {
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
      const [name = '', ...value] = part.replaceAll('+', ' ').split('=');
      return [percentDecode(name), percentDecode(value.join('='))];
    });
}

function canonicalPath(rawPath: string): string {
  return rawPath
    .split('/')
    .map((part) => encode(percentDecode(part)))
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
