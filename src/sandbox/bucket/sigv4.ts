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

export interface RequestSignature {
  accessKeyId: string;
  /** The signed value for the body: its SHA-256 in hex, or one of the constants for unsigned and streamed bodies. */
  payload: string;
  /** The start of the signature chain for a streamed body's chunks. */
  chain: SignatureChain;
}

export interface SignatureChain {
  key: Buffer;
  scope: CredentialScope;
  /** YYYYMMDDTHHMMSSZ. */
  time: string;
  /** The signature of the request itself. */
  seed: string;
}

export interface RequestSignatureOptions {
  region: string;
  /** The current time, in ms since the epoch. */
  now: number;
  secretOf(accessKeyId: string): string | undefined;
}

export const UNSIGNED = 'UNSIGNED-PAYLOAD';
const MAX_SKEW_MS = 15 * 60_000;
const MAX_EXPIRES_SECONDS = 7 * 86_400;

interface Claim {
  presigned: boolean;
  accessKeyId: string;
  scope: CredentialScope;
  signedHeaders: string[];
  signature: string;
  /** YYYYMMDDTHHMMSSZ. */
  time: string;
  payload: string;
}

type Query = ReadonlyMap<string, string>;

/**
 * Verifies a request's signature and returns who signed it.
 * @throws S3Error if the signature isn't accepted; AccessDenied for anonymous requests.
 */
export function verifySignature(request: SignedRequest, options: RequestSignatureOptions): RequestSignature {
  const query: Query = new Map(parseQuery(request.rawQuery));
  const claim = claimOf(request, query);
  const secret = options.secretOf(claim.accessKeyId);
  if (secret === undefined) {
    throw new S3Error('InvalidAccessKeyId', 'The AWS access key Id you provided does not exist here.', {
      AWSAccessKeyId: claim.accessKeyId,
    });
  }
  checkScope(claim, options.region);
  if (claim.presigned) checkExpiry(query.get('X-Amz-Expires') ?? '', claim.time, options.now);
  else checkSkew(claim.time, options.now);
  checkSignedHeaders(request, claim);
  const canonical = canonicalRequest(request, claim.signedHeaders, claim.payload);
  const text = stringToSign(claim.time, claim.scope, canonical);
  const key = signingKey(secret, claim.scope);
  if (!isEqualInConstantTime(claim.signature, hmac(key, text).toString('hex'))) {
    throw new S3Error(
      'SignatureDoesNotMatch',
      'The signature does not match: check the secret access key and how the request is signed.',
      { AWSAccessKeyId: claim.accessKeyId, StringToSign: text, CanonicalRequest: canonical },
    );
  }
  const { accessKeyId, payload, scope, time, signature } = claim;
  return { accessKeyId, payload, chain: { key, scope, time, seed: signature } };
}

/** Compares two signatures in constant time, so that the duration doesn't reveal how much of them is equal. */
export function isEqualInConstantTime(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function claimOf(request: SignedRequest, query: Query): Claim {
  const presigned = query.has('X-Amz-Signature') || query.has('X-Amz-Algorithm');
  if (presigned && request.headers.authorization !== undefined)
    throw new S3Error('InvalidArgument', 'Only one auth mechanism allowed.');
  if (query.has('X-Amz-Security-Token') || request.headers['x-amz-security-token'] !== undefined)
    throw new S3Error('InvalidToken', 'The accounts here have no session tokens.');
  return presigned ? presignedClaim(request, query) : headerClaim(request);
}

function headerClaim(request: SignedRequest): Claim {
  const header = only(request, 'authorization');
  if (header === undefined) throw new S3Error('AccessDenied', 'The request is not signed.');
  if (!header.startsWith(`${ALGORITHM} `))
    throw new S3Error('InvalidRequest', `This way of signing is not supported. Please use ${ALGORITHM}.`);
  const fields = new Map(header.slice(ALGORITHM.length).split(',').map(fieldOf));
  const time = only(request, 'x-amz-date');
  if (time === undefined) throw new S3Error('AccessDenied', 'A signed request needs one x-amz-date header.');
  const payload = only(request, 'x-amz-content-sha256');
  if (payload === undefined)
    throw new S3Error('InvalidRequest', 'Missing required header for this request: x-amz-content-sha256.');
  const claim = complete(
    { credential: fields.get('Credential'), headers: fields.get('SignedHeaders') },
    { signature: fields.get('Signature'), time, payload },
  );
  if (claim === undefined)
    throw new S3Error('AuthorizationHeaderMalformed', 'The authorization header is malformed.');
  return { presigned: false, ...claim };
}

function presignedClaim(request: SignedRequest, query: Query): Claim {
  if (query.get('X-Amz-Algorithm') !== ALGORITHM)
    throw new S3Error('AuthorizationQueryParametersError', `X-Amz-Algorithm only supports ${ALGORITHM}.`);
  const payload = query.get('X-Amz-Content-Sha256') ?? only(request, 'x-amz-content-sha256') ?? UNSIGNED;
  const claim = complete(
    { credential: query.get('X-Amz-Credential'), headers: query.get('X-Amz-SignedHeaders') },
    { signature: query.get('X-Amz-Signature'), time: query.get('X-Amz-Date'), payload },
  );
  if (claim === undefined)
    throw new S3Error('AuthorizationQueryParametersError', 'The signature in the query is not complete.');
  return { presigned: true, ...claim };
}

function fieldOf(part: string): [string, string] {
  const equals = part.indexOf('=');
  return [part.slice(0, equals).trim(), part.slice(equals + 1).trim()];
}

/** Returns the claim if all its parts are present and well-formed. */
function complete(
  who: { credential: string | undefined; headers: string | undefined },
  how: { signature: string | undefined; time: string | undefined; payload: string },
): Omit<Claim, 'presigned'> | undefined {
  const [, accessKeyId = '', date = '', region = '', service = ''] =
    /^([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request$/.exec(who.credential ?? '') ?? [];
  const { signature, time, payload } = how;
  if (accessKeyId === '' || !who.headers || !signature || !time) return undefined;
  if (Number.isNaN(epochOf(time)) || !time.startsWith(date)) return undefined;
  const signedHeaders = who.headers.toLowerCase().split(';');
  return { accessKeyId, scope: { date, region, service }, signedHeaders, signature, time, payload };
}

/** Returns a header's value if the header was sent exactly once. */
function only(request: SignedRequest, name: string): string | undefined {
  return request.headers[name]?.length === 1 ? request.headers[name][0] : undefined;
}

function epochOf(time: string): number {
  const parts = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/.exec(time);
  if (parts === null) return Number.NaN;
  const [, year, month, day, hour, minute, second] = parts;
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

function checkScope({ scope, presigned }: Claim, region: string): void {
  if (scope.region === region && scope.service === 's3') return;
  throw new S3Error(
    presigned ? 'AuthorizationQueryParametersError' : 'AuthorizationHeaderMalformed',
    `The scope names ${scope.region}/${scope.service}; expecting ${region}/s3.`,
    { Region: region },
  );
}

function checkSkew(time: string, now: number): void {
  if (Math.abs(epochOf(time) - now) <= MAX_SKEW_MS) return;
  throw new S3Error(
    'RequestTimeTooSkewed',
    'The difference between the request time and the current time is too large.',
    {
      RequestTime: time,
      ServerTime: new Date(now).toISOString(),
      MaxAllowedSkewMilliseconds: String(MAX_SKEW_MS),
    },
  );
}

function checkExpiry(expires: string, time: string, now: number): void {
  const seconds = /^\d{1,6}$/.test(expires) ? Number(expires) : Number.NaN;
  if (!(seconds >= 1 && seconds <= MAX_EXPIRES_SECONDS))
    throw new S3Error('AuthorizationQueryParametersError', 'X-Amz-Expires must be 1 to 604800 seconds.');
  if (epochOf(time) - now > MAX_SKEW_MS) throw new S3Error('AccessDenied', 'Request is not yet valid.');
  if (now > epochOf(time) + seconds * 1_000) throw new S3Error('AccessDenied', 'Request has expired.');
}

/** Checks that all headers that affect the request are signed. An unsigned one could have been added on the way. */
function checkSignedHeaders(request: SignedRequest, claim: Claim): void {
  const signed = new Set(claim.signedHeaders);
  const unsigned = ['host', ...Object.keys(request.headers).filter((name) => name.startsWith('x-amz-'))].find(
    (name) => !signed.has(name),
  );
  if (unsigned !== undefined) throw new S3Error('AccessDenied', `The header ${unsigned} is not signed.`);
}
