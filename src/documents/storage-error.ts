import { codeOf, messageOf, StorageError, type StorageErrorCode } from '../kernel/errors.ts';
import { isRecord } from '../kernel/json.ts';

interface Where {
  bucket: string;
  key: string;
  endpoint: string | undefined;
}

interface Cause {
  code: StorageErrorCode;
  why: string;
  hint: string;
}

const SHOW = 'Compare with `esign profiles show`.';

/** By the name of the bucket's error; names are steadier than messages, which some servers leave empty. */
const BY_NAME: Readonly<Record<string, Cause>> = {
  NoSuchKey: {
    code: 'STORAGE_NOT_FOUND',
    why: 'the object is not there',
    hint: `Is it the right bucket? ${SHOW}`,
  },
  NotFound: {
    code: 'STORAGE_NOT_FOUND',
    why: 'the object is not there',
    hint: `Is it the right bucket? ${SHOW}`,
  },
  NoSuchBucket: { code: 'STORAGE_NOT_FOUND', why: 'there is no such bucket', hint: SHOW },
  AccessDenied: {
    code: 'STORAGE_DENIED',
    why: 'access denied',
    hint: 'The key needs s3:GetObject. Without s3:ListBucket a missing object is reported like this, too.',
  },
  InvalidAccessKeyId: {
    code: 'STORAGE_CREDENTIALS',
    why: 'the bucket does not know the access key id',
    hint: SHOW,
  },
  SignatureDoesNotMatch: {
    code: 'STORAGE_CREDENTIALS',
    why: 'the signature is wrong',
    hint: 'Most often the secret access key is wrong, or has a blank at its end.',
  },
  RequestTimeTooSkewed: {
    code: 'STORAGE_CREDENTIALS',
    why: 'the clock of this machine is off',
    hint: 'Set the clock.',
  },
  PreconditionFailed: {
    code: 'STORAGE_CHANGED',
    why: 'the object was replaced while it was being fetched',
    hint: 'Run the command again.',
  },
  InvalidRange: {
    code: 'STORAGE_CHANGED',
    why: 'the object is shorter than the part that was fetched of it',
    hint: 'Run the command again.',
  },
  TokenRefreshRequired: {
    code: 'STORAGE_CREDENTIALS',
    why: 'the credentials have expired',
    hint: 'Sign in again (aws sso login).',
  },
  ExpiredToken: {
    code: 'STORAGE_CREDENTIALS',
    why: 'the credentials have expired',
    hint: 'Sign in again (aws sso login).',
  },
  CredentialsProviderError: {
    code: 'STORAGE_CREDENTIALS',
    why: 'there are no credentials for it',
    hint: 'Set AWS_PROFILE, or `esign profiles edit NAME --access-key-id ID`.',
  },
};

/** Anything the SDK rejects with, as a StorageError that names the likely cause and the fix. */
export function storageError(error: unknown, where: Where): StorageError {
  const name = error instanceof Error ? error.name : '';
  const cause = BY_NAME[name] ?? byStatus(statusOf(error)) ?? byConnection(error, where);
  const what = `Can't fetch ${where.key} from the bucket ${where.bucket}: ${cause.why}.`;
  return new StorageError(cause.code, what, { hint: cause.hint, cause: error });
}

function byStatus(status: number | undefined): Cause | undefined {
  if (status === 403) return BY_NAME.AccessDenied;
  if (status === 404) return BY_NAME.NoSuchKey;
  if (status === 412) return BY_NAME.PreconditionFailed;
  if (status === 416) return BY_NAME.InvalidRange;
  if (status === 301 || status === 307) {
    return {
      code: 'STORAGE_UNREACHABLE',
      why: 'the bucket is in another region',
      hint: 'Set --region in the profile.',
    };
  }
  if (status !== undefined && status >= 500) {
    return {
      code: 'STORAGE_UNREACHABLE',
      why: `the bucket answered ${status}`,
      hint: 'Try again in a moment.',
    };
  }
  return undefined;
}

function byConnection(error: unknown, where: Where): Cause {
  const at = where.endpoint ?? 'AWS';
  const why = messageOf(error);
  if (why.includes('Region is missing')) {
    return {
      code: 'STORAGE_NOT_CONFIGURED',
      why: 'no region is set',
      hint: 'Set --region in the profile, or AWS_REGION.',
    };
  }
  return { code: 'STORAGE_UNREACHABLE', why: `no answer from ${at} (${codeOf(error) ?? why})`, hint: SHOW };
}

function statusOf(error: unknown): number | undefined {
  const metadata =
    typeof error === 'object' && error !== null && '$metadata' in error ? error.$metadata : undefined;
  const status: unknown = isRecord(metadata) ? metadata.httpStatusCode : undefined;
  return typeof status === 'number' && status >= 300 ? status : undefined;
}
