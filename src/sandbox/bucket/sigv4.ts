import { timingSafeEqual } from 'node:crypto';
import {
  ALGORITHM,
  type CredentialScope,
  canonicalRequest,
  hmac,
  parseQuery,
  type SignedRequest,
  signingKey,
  stringToSign,
} from './canonical.ts';
import { S3Error } from './s3-error.ts';

/*
 * Verification of AWS Signature Version 4, in headers and presigned queries: the canonical request is rebuilt from the received request,
 * and its signature is compared in constant time.
 */

/** The account that may use the bucket. */
export interface BucketAccount {
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
}

export const UNSIGNED = 'UNSIGNED-PAYLOAD';
const MAX_SKEW_MS = 15 * 60_000;
const MAX_EXPIRES_SECONDS = 7 * 86_400;

/** The parts of a signature, from the header or the query. */
interface Claim {
  /** The lifetime of a presigned request; undefined if the signature is in the header. */
  expires: string | undefined;
  accessKeyId: string;
  scope: CredentialScope;
  signedHeaders: string[];
  signature: string;
  /** YYYYMMDDTHHMMSSZ. */
  time: string;
  payload: string;
}

/**
 * Verifies a request's signature. Returns the signed value for the body: its SHA-256 in hex, or one of the constants for unsigned and
 * streamed bodies. `now` is in ms since the epoch.
 * @throws S3Error if the signature isn't accepted; AccessDenied for anonymous requests.
 */
export function verifySignature(request: SignedRequest, account: BucketAccount, now: number): string {
  const claim = claimOf(request);
  if (claim.accessKeyId !== account.accessKeyId)
    throw new S3Error('InvalidAccessKeyId', 'The AWS access key Id you provided does not exist here.');
  checkScope(claim, account.region);
  checkTime(claim, now);
  checkSignedHeaders(request, claim);
  const canonical = canonicalRequest(request, claim.signedHeaders, claim.payload);
  const text = stringToSign(claim.time, claim.scope, canonical);
  const expected = hmac(signingKey(account.secretAccessKey, claim.scope), text).toString('hex');
  if (isEqualInConstantTime(claim.signature, expected)) return claim.payload;
  throw new S3Error(
    'SignatureDoesNotMatch',
    'The signature does not match: check the secret access key and how the request is signed.',
    { StringToSign: text, CanonicalRequest: canonical },
  );
}

function isEqualInConstantTime(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
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
  const [credential, accessKeyId = '', date = '', region = '', service = ''] =
    /^([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request$/.exec(part('Credential')) ?? [];
  const isSupported = isPresigned
    ? query.get('X-Amz-Algorithm') === ALGORITHM
    : authorization?.startsWith(ALGORITHM);
  if (!isSupported || !credential || !payload || !time.startsWith(date) || Number.isNaN(epochOf(time)))
    throw malformed(isPresigned, `The signature is incomplete or malformed. Only ${ALGORITHM} is supported.`);
  return {
    expires: isPresigned ? part('Expires') : undefined,
    accessKeyId,
    scope: { date, region, service },
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

function malformed(isPresigned: boolean, message: string, details?: Record<string, string>): S3Error {
  const code = isPresigned ? 'AuthorizationQueryParametersError' : 'AuthorizationHeaderMalformed';
  return new S3Error(code, message, details);
}

function epochOf(time: string): number {
  const parts = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/.exec(time);
  if (parts === null) return Number.NaN;
  const [, year, month, day, hour, minute, second] = parts;
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

function checkScope({ scope, expires }: Claim, region: string): void {
  if (scope.region === region && scope.service === 's3') return;
  const message = `The credential scope is ${scope.region}/${scope.service}; expected ${region}/s3.`;
  throw malformed(expires !== undefined, message, { Region: region });
}

function checkTime({ time, expires }: Claim, now: number): void {
  const age = now - epochOf(time);
  if (expires === undefined) {
    if (Math.abs(age) <= MAX_SKEW_MS) return;
    throw new S3Error(
      'RequestTimeTooSkewed',
      'The difference between the request time and the current time is too large.',
      { RequestTime: time, ServerTime: new Date(now).toISOString() },
    );
  }
  const seconds = /^\d{1,6}$/.test(expires) ? Number(expires) : Number.NaN;
  if (!(seconds >= 1 && seconds <= MAX_EXPIRES_SECONDS))
    throw malformed(true, 'X-Amz-Expires must be 1 to 604800 seconds.');
  if (age < -MAX_SKEW_MS) throw new S3Error('AccessDenied', 'Request is not yet valid.');
  if (age > seconds * 1_000) throw new S3Error('AccessDenied', 'Request has expired.');
}

/** Checks that all headers that affect the request are signed. An unsigned one could have been added on the way. */
function checkSignedHeaders(request: SignedRequest, claim: Claim): void {
  const names = ['host', ...Object.keys(request.headers).filter((name) => name.startsWith('x-amz-'))];
  const unsigned = names.find((name) => !claim.signedHeaders.includes(name));
  if (unsigned !== undefined) throw new S3Error('AccessDenied', `The header ${unsigned} is not signed.`);
}
