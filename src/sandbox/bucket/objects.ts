import { closeSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { type Call, header } from './call.ts';
import { type PutFacts, readRange, type StoredObjectFacts } from './object-store.ts';
import { readBody } from './request-body.ts';
import { S3Error } from './s3-error.ts';

const DEFAULT_TYPE = 'binary/octet-stream';
const KEPT_HEADERS = [
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'expires',
];
/** Headers of writes that can't be ignored, because the result would differ from what the client requested. */
const UNSUPPORTED =
  /^if-|^x-amz-(tagging$|object-lock-|server-side-encryption|website-redirect-location|grant-|copy-source)/;

/** Handles PutObject. */
export async function putObject(call: Call): Promise<void> {
  refuseUnsupported(call);
  const { etag, checksums } = await call.store.upload(call.key, readBody(call), factsOf(call));
  call.response.writeHead(200, { etag: `"${etag}"`, ...checksums }).end();
}

/** Handles DeleteObject. It succeeds even if the object doesn't exist. */
export async function deleteObject(call: Call): Promise<void> {
  refuseUnsupported(call);
  await call.store.remove(call.key);
  call.response.writeHead(204).end();
}

/** Handles GetObject and HeadObject. */
export async function getObject(call: Call): Promise<void> {
  const object = await call.store.read(call.key);
  if (object === undefined)
    throw new S3Error('NoSuchKey', 'The specified key does not exist.', { Key: call.key });
  const { facts, file } = object;
  let range: ByteRange | undefined;
  try {
    range = writeHead(call, facts);
  } finally {
    if (range === undefined) closeSync(file);
  }
  if (range === undefined) call.response.end();
  else await pipeline(readRange(file, range.start, range.end), call.response);
}

function refuseUnsupported({ request }: Call): void {
  const unsupported = Object.keys(request.headers).find((name) => UNSUPPORTED.test(name));
  if (unsupported !== undefined)
    throw new S3Error('NotImplemented', `The header ${unsupported} is not supported here.`);
}

/** Returns the properties of the object that a request uploads. */
function factsOf(call: Call): PutFacts {
  const names = Object.keys(call.request.headers);
  const { 'content-encoding': encoding = '', ...headers } = pick(call, KEPT_HEADERS);
  const stored = encoding.replace(/\s*aws-chunked\s*,?|,\s*aws-chunked\s*$/gi, '');
  return {
    contentType: header(call, 'content-type') ?? DEFAULT_TYPE,
    metadata: pick(
      call,
      names.filter((name) => name.startsWith('x-amz-meta-')),
    ),
    headers: stored === '' ? headers : { ...headers, 'content-encoding': stored },
  };
}

function pick(call: Call, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = header(call, name);
    if (value !== undefined) picked[name] = value;
  }
  return picked;
}

/** Writes the status and headers of a read. Returns the bytes to send, or undefined for a response without a body. */
function writeHead(call: Call, facts: StoredObjectFacts): ByteRange | undefined {
  const { response, method } = call;
  const etag = `"${facts.etag}"`;
  const modified = new Date(facts.modifiedAt).toUTCString();
  // If-Match is checked before Range, so that a resumed download never gets bytes of another object.
  const [wanted, known] = [header(call, 'if-match'), header(call, 'if-none-match')];
  if (wanted !== undefined && !isListed(wanted, facts.etag))
    throw new S3Error('PreconditionFailed', 'At least one of the pre-conditions you specified did not hold.');
  if (known !== undefined && isListed(known, facts.etag)) {
    response.writeHead(304, { etag, 'last-modified': modified });
    return undefined;
  }
  const range = parseRange(header(call, 'range'), facts.size);
  if (range === 'unsatisfiable') {
    response.setHeader('content-range', `bytes */${facts.size}`);
    throw new S3Error('InvalidRange', 'The requested range is not satisfiable.');
  }
  const { start, end } = range === 'whole' ? { start: 0, end: facts.size } : range;
  const isSummed = range === 'whole' && header(call, 'x-amz-checksum-mode') === 'ENABLED';
  response.writeHead(range === 'whole' ? 200 : 206, {
    'accept-ranges': 'bytes',
    'content-type': facts.contentType,
    ...facts.headers,
    ...facts.metadata,
    ...overrides(call),
    etag,
    'last-modified': modified,
    'content-length': end - start,
    ...(range === 'whole' ? {} : { 'content-range': `bytes ${start}-${end - 1}/${facts.size}` }),
    ...(isSummed ? { ...facts.checksums, 'x-amz-checksum-type': 'FULL_OBJECT' } : {}),
  });
  return method === 'HEAD' || start === end ? undefined : { start, end };
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

/** Returns true if a list of ETags contains this one or `*`. */
function isListed(list: string, etag: string): boolean {
  return list.split(',').some((one) => ['*', etag].includes(one.trim().replace(/^W\/|"/g, '')));
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
