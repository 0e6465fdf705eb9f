import { codeOf, messageOf, StorageError, type StorageErrorCode, UsageError } from '../../kernel/errors.ts';
import { ownValue } from '../../kernel/json.ts';
import { proxyFor, proxyForScheme, proxyLabel } from '../../kernel/network/proxy.ts';
import { unknownIssuerHint } from '../../kernel/network/trust.ts';
import { connectionReason, UNKNOWN_ISSUER } from '../../kernel/network/unreachable.ts';
import { command } from '../../kernel/text/shell-words.ts';
import { BucketError } from './bucket-error.ts';

/** Why the bucket can't be read, and the fix. */
interface BucketProblem {
  code: StorageErrorCode;
  why: string;
  hint: string | undefined;
}

/** The operation that failed, and its target. */
export interface FailedOperation {
  bucket: string;
  key: string;
  endpoint: string | undefined;
  /** A verb that messages put before the key, such as `fetch` or `look at`. */
  action: string;
}

const SEE_SETTINGS = 'Check your settings with `esign profiles show`.';

const NOT_S3 =
  'This can be a proxy, a sign-in page, an endpoint that is not an S3 API, or http:// instead of https://. Check HTTPS_PROXY and --endpoint.';

const GUESS_400 = `Usually the region or the path style (--path-style, --no-path-style) is wrong, or a session token has expired. ${SEE_SETTINGS}`;

const MISSING: BucketProblem = {
  code: 'STORAGE_NOT_FOUND',
  why: 'the object does not exist',
  hint: `Check the key and the bucket. ${SEE_SETTINGS}`,
};
const NO_BUCKET: BucketProblem = {
  code: 'STORAGE_NOT_FOUND',
  why: 'the bucket does not exist',
  hint: SEE_SETTINGS,
};
const DENIED: BucketProblem = {
  code: 'STORAGE_DENIED',
  why: 'access denied',
  hint: 'The key needs s3:GetObject, and kms:Decrypt for objects encrypted with KMS. Without s3:ListBucket, a missing object causes the same error.',
};
const EXPIRED: BucketProblem = {
  code: 'STORAGE_CREDENTIALS',
  why: 'the credentials have expired',
  hint: 'Get new ones, for example with `aws sso login`.',
};
const CLOCK: BucketProblem = {
  code: 'STORAGE_CREDENTIALS',
  why: "this machine's clock is wrong",
  hint: 'Correct the clock. S3 requests are valid for only a few minutes.',
};
const SLOW: BucketProblem = {
  code: 'STORAGE_UNREACHABLE',
  why: 'the bucket received too many requests',
  hint: 'Try again later.',
};

/** Causes by the name of the bucket's error. Names are used because messages vary, and some servers omit them. */
const BY_NAME: Readonly<Record<string, BucketProblem>> = {
  NoSuchKey: MISSING,
  NotFound: MISSING,
  NoSuchBucket: NO_BUCKET,
  InvalidBucketName: {
    code: 'STORAGE_NOT_CONFIGURED',
    why: 'it is not a valid bucket name',
    hint: 'Set it with `esign profiles edit NAME --bucket BUCKET`.',
  },
  AccessDenied: DENIED,
  AllAccessDisabled: DENIED,
  InvalidObjectState: {
    code: 'STORAGE_NOT_READY',
    why: 'the object is archived (Glacier) and must be restored first',
    hint: 'Restore it with `aws s3api restore-object`.',
  },
  InvalidAccessKeyId: {
    code: 'STORAGE_CREDENTIALS',
    why: 'the access key ID does not exist',
    hint: `Check that it belongs to this endpoint and account. ${SEE_SETTINGS}`,
  },
  SignatureDoesNotMatch: {
    code: 'STORAGE_CREDENTIALS',
    why: 'the signature is wrong',
    hint: 'Usually the secret access key is wrong, or ends with a space. A proxy that rewrites URLs can also cause this.',
  },
  RequestTimeTooSkewed: CLOCK,
  RequestExpired: CLOCK,
  ExpiredToken: EXPIRED,
  ExpiredTokenException: EXPIRED,
  TokenRefreshRequired: EXPIRED,
  InvalidToken: {
    code: 'STORAGE_CREDENTIALS',
    why: 'the session token is not valid',
    hint: 'AWS_SESSION_TOKEN must belong to AWS_ACCESS_KEY_ID. Unset it for a permanent key.',
  },
  SlowDown: SLOW,
  ServiceUnavailable: SLOW,
  TooManyRequests: SLOW,
  MethodNotAllowed: {
    code: 'STORAGE_UNREACHABLE',
    why: 'the endpoint is not an S3 service',
    hint: 'The endpoint must be the URL of the S3 API, without the bucket. Set it with `esign profiles edit NAME --endpoint URL`.',
  },
};

/** Returns true if the bucket itself is missing, which waiting for an object can't change. */
export function isBucketMissing(error: StorageError): boolean {
  return error.cause instanceof Error && error.cause.name === 'NoSuchBucket';
}

/** Returns true if an S3 service reported that the object is missing. Any web server can respond with 404. */
export function isObjectMissing(error: StorageError): boolean {
  return error.cause instanceof Error && error.cause.name === 'NoSuchKey';
}

export function notS3Error(message: string): StorageError {
  return new StorageError('STORAGE_UNREACHABLE', message, { hint: NOT_S3 });
}

/** Converts any error of the SDK to a StorageError with the likely cause and the fix. */
export function storageError(error: unknown, where: FailedOperation): StorageError | UsageError {
  // A problem that is unrelated to the bucket: an invalid setting, such as the URL of a proxy, or the credentials.
  if (error instanceof UsageError || error instanceof StorageError) return error;
  const cause = causeOf(error, where);
  const { code, why } = cause;
  const hint = cause === MISSING && /^env_[^/]+$/.test(where.key) ? envelopeHint(where.key) : cause.hint;
  const what = `Can't ${where.action} ${where.key} in bucket ${where.bucket}: ${why}${ownWords(error)}.`;
  return new StorageError(code, what, { hint, cause: error });
}

/** Returns the code and message of the bucket, in which the reason for a refusal may be. */
function ownWords(error: unknown): string {
  if (!(error instanceof BucketError) || error.name === '') return '';
  const message = error.message.replace(/\s+/g, ' ').replace(/\.$/, '').slice(0, MAX_MESSAGE);
  return ` (${error.name}${message === '' ? '' : `: ${message}`})`;
}

/** The longest message of a bucket that is shown. */
const MAX_MESSAGE = 300;

function envelopeHint(id: string): string {
  const download = command('envelopes', 'download', id);
  return `This is an envelope's ID, not a storage key. To download the envelope's documents, run \`${download}\`.`;
}

function causeOf(error: unknown, where: FailedOperation): BucketProblem {
  if (error instanceof BucketError)
    return (
      otherRegion(error) ??
      (/request has expired/i.test(error.message) ? CLOCK : undefined) ??
      ownValue(BY_NAME, error.name) ??
      byEncryption(error) ??
      byStatus(error) ??
      unreachable(`the bucket responded with ${error.status}`)
    );
  return byConnection(error, where);
}

const OTHER_REGION: readonly string[] = [
  'PermanentRedirect',
  'TemporaryRedirect',
  'AuthorizationHeaderMalformed',
  'AuthorizationQueryParametersError',
];

/**
 * Returns the cause if the bucket is in another region (a redirect, or a signature for the wrong region).
 */
function otherRegion({ name, status, region }: BucketError): BucketProblem | undefined {
  // A redirect without either is not from S3: for example, from http:// to https://.
  const moved = region !== undefined && (status === 301 || status === 307 || status === 400);
  if (!moved && !OTHER_REGION.includes(name)) return undefined;
  return unreachable(
    region === undefined ? 'the bucket is in a different region' : `the bucket is in region ${region}`,
    `Set it: \`${command('profiles', 'edit', 'NAME', '--region', region ?? 'REGION')}\`.`,
  );
}

function unreachable(why: string, hint: string | undefined = SEE_SETTINGS): BucketProblem {
  return { code: 'STORAGE_UNREACHABLE', why, hint };
}

/** Returns the cause if the object is encrypted in a way that can't be undone with these credentials. */
function byEncryption({ name, message }: BucketError): BucketProblem | undefined {
  if (name.startsWith('KMS.'))
    return {
      code: 'STORAGE_DENIED',
      why: "the object's KMS key can't be used",
      hint: 'Enable the key, and give the credentials kms:Decrypt.',
    };
  if (!/server.side encryption|SSE-C/i.test(message)) return undefined;
  return {
    code: 'STORAGE_DENIED',
    why: "the object is encrypted with a customer's key (SSE-C), which esign doesn't have",
    hint: 'Change the encryption of the bucket to SSE-S3 or SSE-KMS.',
  };
}

function byStatus({ status, isPage, message }: BucketError): BucketProblem | undefined {
  if (status === 403 && isPage) return unreachable('a proxy or gateway refused the request (403)', NOT_S3);
  if (status === 403) return DENIED;
  if (status === 404) return MISSING;
  if (status === 401 || status === 407) {
    return {
      code: 'STORAGE_CREDENTIALS',
      why: `a proxy or gateway requires a sign-in (${status})`,
      hint: 'This can be a proxy, or an endpoint that is not an S3 API. Check HTTPS_PROXY and --endpoint.',
    };
  }
  if (status > 300 && status < 400) return unreachable(`the request was redirected (${status})`, NOT_S3);
  if (status === 400)
    return unreachable(
      'the bucket refused the request (400)',
      // The bucket's own message names the reason.
      message === '' ? GUESS_400 : SEE_SETTINGS,
    );
  if (status === 405 || status === 501) return BY_NAME.MethodNotAllowed;
  if (status === 429) return SLOW;
  return status >= 500 ? unreachable(`the bucket responded with ${status}`, 'Try again later.') : undefined;
}

function byConnection(error: unknown, where: FailedOperation): BucketProblem {
  const at = where.endpoint ?? 'AWS';
  const message = messageOf(error);
  const code = codeOf(error) ?? '';
  if (message.includes('Region is missing')) {
    return {
      code: 'STORAGE_NOT_CONFIGURED',
      why: 'no region is set',
      hint: 'Set a region in the profile (--region), or set AWS_REGION.',
    };
  }
  if (code === 'ERR_INVALID_URL' || message.includes('Invalid URL'))
    return unreachable(`the endpoint ${at} is not a URL`, 'Start the URL with https://.');
  if (code.startsWith('PROXY_'))
    return unreachable(
      `can't reach ${at}${proxyBefore(where)}: ${message}`,
      'Check HTTPS_PROXY and its password, or add the host to NO_PROXY.',
    );
  const host = hostIn(error);
  const why = `${code === '' ? message : connectionReason(code)}${host === undefined ? '' : `: ${host}`}`;
  const hint = UNKNOWN_ISSUER.has(code) ? unknownIssuerHint() : CONNECTION_HINTS.get(code);
  return unreachable(`no response from ${at}${proxyBefore(where)} (${why})`, hint);
}

const CONNECTION_HINTS: ReadonlyMap<string, string> = new Map([
  ['CERT_HAS_EXPIRED', "The server's operator must renew it."],
  ['EPROTO', 'Check whether the endpoint must start with http:// instead of https://.'],
  [
    'ENOTFOUND',
    `If the host name starts with the bucket's name, try --path-style. Otherwise, check --endpoint and --region. ${SEE_SETTINGS}`,
  ],
  [
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'If the bucket name contains dots, or for a custom endpoint, use --path-style.',
  ],
]);

/** Names the endpoint's proxy in a message, because it may be the proxy that doesn't respond. */
function proxyBefore({ endpoint }: FailedOperation): string {
  if (endpoint !== undefined && !URL.canParse(endpoint)) return '';
  const { env } = process;
  const proxy = endpoint === undefined ? proxyForScheme(env, 'https:') : proxyFor(env, new URL(endpoint));
  return proxy === undefined ? '' : ` through the proxy ${proxyLabel(proxy)}`;
}

/** Returns the host that could not be resolved. */
function hostIn(error: unknown): string | undefined {
  return error instanceof Error && 'hostname' in error && typeof error.hostname === 'string'
    ? error.hostname
    : undefined;
}
