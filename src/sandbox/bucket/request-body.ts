import { createHash } from 'node:crypto';
import { type Call, header } from './call.ts';
import { S3Error } from './s3-error.ts';
import { UNSIGNED } from './sigv4.ts';

/** The maximum body size that S3 accepts in one request. */
const MAX_BODY_BYTES = 5 * 1024 ** 3;
/** The maximum length of the line before a chunk. */
const MAX_LINE = 8_192;

/**
 * Yields the body of a request, decoded if it is aws-chunked. Signatures of chunks and checksums in trailers are not verified.
 * @throws S3Error before the end if the body isn't as long as declared or not the one that was signed.
 */
export async function* readBody(call: Call): AsyncGenerator<Uint8Array> {
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
