import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Call, header } from './call.ts';
import type { StoredObject, StoredObjectFacts } from './object-file.ts';
import type { PutFacts } from './object-store.ts';
import { readBody } from './request-body.ts';
import { S3Error } from './s3-error.ts';

const DEFAULT_TYPE = 'binary/octet-stream';
const MAX_METADATA_BYTES = 2_048;
const KEPT_HEADERS = [
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'expires',
];
/** Headers that can't be ignored, because the result would differ from what the client requested. */
const UNSUPPORTED =
  /^x-amz-(tagging$|object-lock-|server-side-encryption|website-redirect-location|grant-|copy-source)/;

/** Handles PutObject. */
export async function putObject(call: Call): Promise<void> {
  const facts = factsOf(call);
  const stored = await call.store.put(call.bucket, call.key, readBody(call), facts, { guard: guardOf(call) });
  call.response.writeHead(200, { etag: quoted(stored), ...checksumHeaders(stored) }).end();
}

/** Handles GetObject and HeadObject. */
export async function getObject(call: Call): Promise<void> {
  await withObject(call, call.bucket, call.key, (object) => sendObject(call, object));
}

/** Handles DeleteObject. It succeeds even if the object doesn't exist. */
export async function deleteObject(call: Call): Promise<void> {
  await call.store.remove(call.bucket, call.key, guardOf(call));
  call.response.writeHead(204).end();
}

/** Returns the properties of the object that a request uploads. @throws S3Error for properties that this bucket can't store. */
function factsOf(call: Call): PutFacts {
  const { headers } = call.request;
  const unsupported = Object.keys(headers).find((name) => UNSUPPORTED.test(name));
  if (unsupported !== undefined)
    throw new S3Error('NotImplemented', `The header ${unsupported} is not supported here.`);
  const metadata = pick(
    call,
    Object.keys(headers).filter((name) => name.startsWith('x-amz-meta-')),
  );
  if (Object.entries(metadata).flat().join('').length > MAX_METADATA_BYTES)
    throw new S3Error('MetadataTooLarge', 'Your metadata headers exceed the maximum allowed metadata size.');
  const kept = pick(call, KEPT_HEADERS);
  const encoding = (kept['content-encoding'] ?? '').replace(/\s*aws-chunked\s*,?|,\s*aws-chunked\s*$/gi, '');
  const { 'content-encoding': _, ...others } = kept;
  return {
    contentType: header(call, 'content-type') ?? DEFAULT_TYPE,
    metadata,
    headers: encoding === '' ? others : { ...others, 'content-encoding': encoding },
  };
}

/** Returns a guard that checks an upload's If-Match and If-None-Match against the object that exists when the upload is complete. */
function guardOf(call: Call): (current: StoredObjectFacts | undefined) => void {
  const conditions = conditionsOf((name) => header(call, name));
  return (current) => guardWrite(conditions, current);
}

function checksumHeaders({ checksums }: StoredObjectFacts): Record<string, string> {
  const [value] = Object.values(checksums);
  return value === undefined ? {} : { ...checksums, 'x-amz-checksum-type': 'FULL_OBJECT' };
}

function quoted({ etag }: StoredObjectFacts): string {
  return `"${etag}"`;
}

function pick(call: Call, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = header(call, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Opens an object, passes it to `use`, and closes it. @throws S3Error NoSuchKey. */
async function withObject(
  call: Call,
  bucket: string,
  key: string,
  use: (object: StoredObject) => Promise<void>,
): Promise<void> {
  const open = () => call.store.open(bucket, key);
  const object = (await open()) ?? ((await call.store.missed(bucket, key)) ? await open() : undefined);
  if (object === undefined) throw new S3Error('NoSuchKey', 'The specified key does not exist.', { Key: key });
  try {
    await use(object);
  } finally {
    await object.close();
  }
}

async function sendObject(call: Call, object: StoredObject): Promise<void> {
  const { response, method } = call;
  const { facts } = object;
  const headers = replyHeaders(call, facts);
  // If-Match is checked before Range, so that a resumed download never gets bytes of another object.
  const verdict = judge(
    conditionsOf((name) => header(call, name)),
    facts,
  );
  if (verdict === 'failed') throw preconditionFailed();
  if (verdict === 'unchanged') {
    response.writeHead(304, { etag: headers.etag, 'last-modified': headers['last-modified'] }).end();
    return;
  }
  const range = parseRange(header(call, 'range'), facts.size);
  if (range === 'unsatisfiable') {
    response.setHeader('content-range', `bytes */${facts.size}`);
    throw new S3Error('InvalidRange', 'The requested range is not satisfiable.', {
      ActualObjectSize: String(facts.size),
    });
  }
  const { start, end } = range === 'whole' ? { start: 0, end: facts.size } : range;
  const sums = header(call, 'x-amz-checksum-mode') === 'ENABLED' ? checksumHeaders(facts) : {};
  if (range === 'whole') response.writeHead(200, { ...headers, ...sums, 'content-length': facts.size });
  else {
    const contentRange = `bytes ${start}-${end - 1}/${facts.size}`;
    response.writeHead(206, { ...headers, 'content-length': end - start, 'content-range': contentRange });
  }
  if (method === 'HEAD') response.end();
  else await pipeline(Readable.from(object.read(start, end)), response);
}

function replyHeaders(call: Call, facts: StoredObjectFacts) {
  return {
    'accept-ranges': 'bytes',
    'content-type': facts.contentType,
    ...facts.headers,
    ...facts.metadata,
    ...overrides(call),
    etag: quoted(facts),
    'last-modified': new Date(facts.modifiedAt).toUTCString(),
  };
}

/** Returns the response headers set by the query, such as response-content-type. */
function overrides({ query }: Call): Record<string, string> {
  const wanted: Record<string, string> = {};
  for (const name of ['content-type', ...KEPT_HEADERS]) {
    const value = query.get(`response-${name}`);
    if (value === undefined) continue;
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      throw new S3Error('InvalidArgument', `Header value cannot be represented using ISO-8859-1: ${name}.`);
    wanted[name] = value;
  }
  return wanted;
}

/** The properties of an object that conditions are checked against. */
interface Version {
  /** The ETag without quotation marks. */
  etag: string;
  /** ISO 8601. */
  modifiedAt: string;
}

interface Conditions {
  ifMatch: string | undefined;
  ifNoneMatch: string | undefined;
  ifModifiedSince: string | undefined;
  ifUnmodifiedSince: string | undefined;
}

/** Reads the conditions of a request. */
function conditionsOf(read: (name: string) => string | undefined): Conditions {
  return {
    ifMatch: read('if-match'),
    ifNoneMatch: read('if-none-match'),
    ifModifiedSince: read('if-modified-since'),
    ifUnmodifiedSince: read('if-unmodified-since'),
  };
}

/** Evaluates the conditions of a read. ETags take precedence over dates (RFC 9110, section 13.2.2). */
function judge(conditions: Conditions, version: Version): 'go' | 'failed' | 'unchanged' {
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
function guardWrite({ ifMatch, ifNoneMatch }: Conditions, current: Version | undefined): void {
  if (ifMatch !== undefined && current === undefined)
    throw new S3Error('NoSuchKey', 'The specified key does not exist.');
  const isOther = current !== undefined && ifMatch !== undefined && !isListed(ifMatch, current.etag);
  const isExisting =
    current !== undefined && ifNoneMatch !== undefined && isListed(ifNoneMatch, current.etag);
  if (isOther || isExisting) throw preconditionFailed();
}

function preconditionFailed(): S3Error {
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

/** The bytes from `start` up to, but not including, `end`. */
interface ByteRange {
  start: number;
  end: number;
}

/**
 * Resolves a Range header for an object's size. Returns a range; `whole` if the header is missing or S3 ignores it (several ranges, other
 * units, invalid); or `unsatisfiable` if no byte of the range exists (416).
 */
export function parseRange(header: string | undefined, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  const parts = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '');
  if (parts === null) return 'whole';
  const [, first = '', last = ''] = parts;
  if (first === '') return last === '' ? 'whole' : suffix(Math.min(Number(last), size), size);
  const start = Number(first);
  const end = last === '' ? size : Math.min(Number(last) + 1, size);
  if (last !== '' && Number(last) < start) return 'whole';
  return start >= size ? 'unsatisfiable' : { start, end };
}

function suffix(length: number, size: number): ByteRange | 'unsatisfiable' {
  return length === 0 ? 'unsatisfiable' : { start: size - length, end: size };
}
