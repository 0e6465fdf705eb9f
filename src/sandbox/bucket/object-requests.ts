import { buffer } from 'node:stream/consumers';
import { type BucketCall, headerValue } from './call.ts';
import type { StoredObject } from './object-store.ts';
import { S3Error } from './s3-error.ts';

/** Handles PutObject for a body that is sent in one piece, which is enough for files of a test. */
export async function putObject({ request, response, store, key }: BucketCall): Promise<void> {
  if (String(request.headers['x-amz-content-sha256']).startsWith('STREAMING-'))
    throw new S3Error(
      'NotImplemented',
      'Streamed uploads are not supported here. Send the body in one piece.',
    );
  await store.put(key, await buffer(request));
  response.writeHead(200, { etag: `"${store.facts(key)?.etag}"` }).end();
}

/** Handles GetObject and HeadObject. */
export async function getObject(call: BucketCall): Promise<void> {
  const object = await call.store.read(call.key);
  if (object === undefined) throw new S3Error('NoSuchKey', 'The specified key does not exist.');
  // If-Match is checked before Range, so that a resumed download never gets bytes of another object.
  if (isUnchanged(call, object)) {
    call.response.writeHead(304, { etag: `"${object.facts.etag}"` }).end();
    return;
  }
  await writeObject(call, object);
}

/** Returns true if the client already has the object. @throws S3Error PreconditionFailed if the client expects another object. */
function isUnchanged(call: BucketCall, { facts }: StoredObject): boolean {
  const [wanted, known] = [headerValue(call, 'if-match'), headerValue(call, 'if-none-match')];
  if (wanted !== undefined && !isListed(wanted, facts.etag))
    throw new S3Error('PreconditionFailed', 'At least one of the pre-conditions you specified did not hold.');
  return known !== undefined && isListed(known, facts.etag);
}

/** Returns true if a list of ETags contains this one or `*`. */
function isListed(list: string, etag: string): boolean {
  return list.split(',').some((one) => ['*', etag].includes(one.trim().replace(/^W\/|"/g, '')));
}

async function writeObject(call: BucketCall, { facts, body }: StoredObject): Promise<void> {
  const { request, response, key } = call;
  const { size, etag, checksum, modifiedAt } = facts;
  const range = parseRange(headerValue(call, 'range'), size);
  if (range === 'unsatisfiable') {
    response.setHeader('content-range', `bytes */${size}`);
    throw new S3Error('InvalidRange', 'The requested range is not satisfiable.');
  }
  const { start, end } = range ?? { start: 0, end: size };
  const isSummed = range === undefined && headerValue(call, 'x-amz-checksum-mode') === 'ENABLED';
  response.writeHead(range === undefined ? 200 : 206, {
    'accept-ranges': 'bytes',
    'content-type': key.endsWith('.pdf') ? 'application/pdf' : 'binary/octet-stream',
    etag: `"${etag}"`,
    'last-modified': modifiedAt.toUTCString(),
    'content-length': end - start,
    ...(range && { 'content-range': `bytes ${start}-${end - 1}/${size}` }),
    ...(isSummed && { 'x-amz-checksum-crc64nvme': await checksum, 'x-amz-checksum-type': 'FULL_OBJECT' }),
  });
  response.end(request.method === 'HEAD' ? undefined : body.subarray(start, end));
}

/** The bytes from `start` up to, but not including, `end`. */
interface ByteRange {
  start: number;
  end: number;
}

/**
 * Resolves a Range header for an object's size. Returns a range; undefined if the header is missing or S3 ignores it (several ranges, other
 * units, invalid); or `unsatisfiable` if no byte of the range exists (416).
 */
function parseRange(text: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(text?.trim() ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(Number(last) + 1, size);
  if (first !== '' && last !== '' && Number(last) < start) return undefined;
  return start >= size ? 'unsatisfiable' : { start, end };
}
