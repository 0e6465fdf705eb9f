import { S3Error } from './s3-error.ts';

/** The properties of an object that conditions are checked against. */
interface Version {
  /** The ETag without quotation marks. */
  etag: string;
  /** ISO 8601. */
  modifiedAt: string;
}

export interface Conditions {
  ifMatch: string | undefined;
  ifNoneMatch: string | undefined;
  ifModifiedSince: string | undefined;
  ifUnmodifiedSince: string | undefined;
}

/** Reads the conditions of a request. */
export function conditionsOf(read: (name: string) => string | undefined): Conditions {
  return {
    ifMatch: read('if-match'),
    ifNoneMatch: read('if-none-match'),
    ifModifiedSince: read('if-modified-since'),
    ifUnmodifiedSince: read('if-unmodified-since'),
  };
}

/** Evaluates the conditions of a read. ETags take precedence over dates (RFC 9110, section 13.2.2). */
export function judge(conditions: Conditions, version: Version): 'go' | 'failed' | 'unchanged' {
  const modified = Math.floor(Date.parse(version.modifiedAt) / 1_000) * 1_000;
  const { ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince } = conditions;
  const isFailed =
    ifMatch === undefined ? modified > Date.parse(ifUnmodifiedSince ?? '') : !isListed(ifMatch, version.etag);
  if (isFailed) return 'failed';
  const isUnchanged =
    ifNoneMatch === undefined
      ? modified <= Date.parse(ifModifiedSince ?? '')
      : isListed(ifNoneMatch, version.etag);
  return isUnchanged ? 'unchanged' : 'go';
}

/**
 * Checks the conditions of a write. `If-None-Match: *` only allows creating an object, If-Match only allows replacing that version.
 * @throws S3Error PreconditionFailed, or NoSuchKey for If-Match if the object doesn't exist.
 */
export function guardWrite({ ifMatch, ifNoneMatch }: Conditions, current: Version | undefined): void {
  if (ifMatch !== undefined && current === undefined)
    throw new S3Error('NoSuchKey', 'The specified key does not exist.');
  const isOther = current !== undefined && ifMatch !== undefined && !isListed(ifMatch, current.etag);
  const isExisting =
    current !== undefined && ifNoneMatch !== undefined && isListed(ifNoneMatch, current.etag);
  if (isOther || isExisting) throw preconditionFailed();
}

export function preconditionFailed(): S3Error {
  return new S3Error('PreconditionFailed', 'At least one of the pre-conditions you specified did not hold.');
}

/** Returns true if a list of ETags contains this one or `*`. */
function isListed(header: string, etag: string): boolean {
  return header.split(',').some((one) => one.trim() === '*' || unquoted(one) === etag);
}

/** Returns an ETag without its quotation marks. */
function unquoted(etag: string): string {
  return etag.trim().replace(/^W\//, '').replaceAll('"', '');
}
