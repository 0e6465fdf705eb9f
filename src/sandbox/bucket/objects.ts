import { createHash } from 'node:crypto';
import { closeSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { type Call, header } from './call.ts';
import { type PutFacts, readRange, type StoredObjectFacts } from './object-store.ts';
import { S3Error } from './s3-error.ts';
import { UNSIGNED } from './sigv4.ts';

const DEFAULT_TYPE = 'binary/octet-stream';

/** Handles PutObject. */
export async function putObject(call: Call): Promise<void> {
  const { etag, checksums } = await call.store.upload(call.key, readBody(call), factsOf(call));
  call.response.writeHead(200, { etag: `"${etag}"`, ...checksums }).end();
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

/** Returns the properties of the object that a request uploads. */
function factsOf(call: Call): PutFacts {
  const headers = Object.entries(call.request.headers).flatMap(([name, value]): [string, string][] =>
    name.startsWith('x-amz-meta-') && typeof value === 'string' ? [[name, value]] : [],
  );
  return { contentType: header(call, 'content-type') ?? DEFAULT_TYPE, metadata: Object.fromEntries(headers) };
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
    ...facts.metadata,
    etag,
    'last-modified': modified,
    'content-length': end - start,
    ...(range === 'whole' ? {} : { 'content-range': `bytes ${start}-${end - 1}/${facts.size}` }),
    ...(isSummed ? { ...facts.checksums, 'x-amz-checksum-type': 'FULL_OBJECT' } : {}),
  });
  return method === 'HEAD' || start === end ? undefined : { start, end };
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
function parseRange(header: string | undefined, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  const parts = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '');
  if (parts === null) return 'whole';
  const [, first = '', last = ''] = parts;
  if (first === '') {
    const length = Math.min(Number(last), size);
    if (last === '') return 'whole';
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size };
  }
  const start = Number(first);
  const end = last === '' ? size : Math.min(Number(last) + 1, size);
  if (last !== '' && Number(last) < start) return 'whole';
  return start >= size ? 'unsatisfiable' : { start, end };
}

/** The maximum body size that S3 accepts in one request. */
const MAX_BODY_BYTES = 5 * 1024 ** 3;
/** The maximum length of the line before a chunk. */
const MAX_LINE = 8_192;

/**
 * Yields the body of a request, decoded if it is aws-chunked. Signatures of chunks and checksums in trailers are not verified.
 * @throws S3Error before the end if the body isn't as long as declared or not the one that was signed.
 */
async function* readBody(call: Call): AsyncGenerator<Uint8Array> {
  const isChunked = call.payload.startsWith('STREAMING-');
  if (!isChunked && call.payload !== UNSIGNED && !/^[0-9a-f]{64}$/.test(call.payload))
    throw new S3Error('InvalidArgument', 'x-amz-content-sha256 is neither a SHA-256 nor a supported value.');
  const length = declaredLength(header(call, isChunked ? 'x-amz-decoded-content-length' : 'content-length'));
  // Stopping early must not destroy the request, because the client must still get the error.
  const received: AsyncIterable<Buffer> = call.request.iterator({ destroyOnReturn: false });
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of isChunked ? unchunk(received) : received) {
    size += chunk.length;
    if (size > length) break;
    hash.update(chunk);
    yield chunk;
  }
  if (size !== length) throw incomplete();
  if (!isChunked && call.payload !== UNSIGNED && hash.digest('hex') !== call.payload)
    throw new S3Error('XAmzContentSHA256Mismatch', 'The body does not match the signed checksum.');
}

function declaredLength(text: string | undefined): number {
  if (text === undefined || !/^\d{1,15}$/.test(text))
    throw new S3Error('MissingContentLength', 'You must provide the Content-Length HTTP header.');
  if (Number(text) <= MAX_BODY_BYTES) return Number(text);
  throw new S3Error('EntityTooLarge', 'Your proposed upload exceeds the maximum allowed size.');
}

/** Decodes aws-chunked: `<hex size>[;chunk-signature=<hex>]\r\n<bytes>\r\n … 0…\r\n[<trailers>]\r\n`. */
async function* unchunk(received: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const source = received[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  const readMore = async () => {
    const next = await source.next();
    if (next.done === true) throw incomplete();
    rest = rest.length === 0 ? next.value : Buffer.concat([rest, next.value]);
  };
  const readLine = async () => {
    while (!rest.includes('\r\n')) {
      if (rest.length > MAX_LINE) throw incomplete();
      await readMore();
    }
    const end = rest.indexOf('\r\n');
    const line = rest.toString('latin1', 0, end);
    rest = rest.subarray(end + 2);
    return line;
  };
  for (;;) {
    const [, size] = /^([0-9a-f]{1,10})(?:;.*)?$/i.exec(await readLine()) ?? [];
    if (size === undefined) throw incomplete();
    let left = Number.parseInt(size, 16);
    // Only trailers follow. Node discards the rest of the request.
    if (left === 0) return;
    while (left > 0) {
      if (rest.length === 0) await readMore();
      const part = rest.subarray(0, left);
      rest = rest.subarray(part.length);
      left -= part.length;
      yield part;
    }
    if ((await readLine()) !== '') throw incomplete();
  }
}

function incomplete(): S3Error {
  return new S3Error('IncompleteBody', "The body is incomplete, or its length doesn't match its headers.");
}
