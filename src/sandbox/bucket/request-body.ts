import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { crc32 } from 'node:zlib';
import { S3Error } from './s3-error.ts';

/** A body as it is read, and what must be true of it at its end. */
export interface CheckedBody {
  chunks: AsyncIterable<Uint8Array>;
  /** @throws S3Error when the body is not what was signed or promised. Returns the checksums that were. */
  check(): Record<string, string>;
}

const STREAMED = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER';
const UNSIGNED = 'UNSIGNED-PAYLOAD';
const MAX_BYTES = 512 * 1024 * 1024;

interface Checksum {
  update(chunk: Uint8Array): void;
  /** Base64. */
  digest(): string;
}

/** The checksums a client may send: header name to how it is computed, in base64. */
const CHECKSUMS: Readonly<Record<string, () => Checksum>> = {
  'x-amz-checksum-crc32': () => {
    let value = 0;
    const update = (chunk: Uint8Array) => {
      value = crc32(chunk, value);
    };
    const digest = () => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(value);
      return bytes.toString('base64');
    };
    return { update, digest };
  },
  'x-amz-checksum-sha1': () => hashed('sha1'),
  'x-amz-checksum-sha256': () => hashed('sha256'),
  'content-md5': () => hashed('md5'),
};

function hashed(algorithm: string) {
  const hash = createHash(algorithm);
  return { update: (chunk: Uint8Array) => void hash.update(chunk), digest: () => hash.digest('base64') };
}

/**
 * The body of an upload, decoded from aws-chunked where it is, checked against the signed SHA-256
 * (`payload`), the decoded length and every checksum sent.
 */
export function readBody(request: IncomingMessage, payload: string): CheckedBody {
  const trailers = new Map<string, string>();
  const streamed = payload === STREAMED;
  if (payload.startsWith('STREAMING-') && !streamed) {
    throw new S3Error('NotImplemented', `${payload} is not supported here; ${STREAMED} is.`);
  }
  const raw = limited(request);
  const source = streamed ? unchunk(raw, trailers) : raw;
  const sha256 = createHash('sha256');
  const sums = new Map(Object.entries(CHECKSUMS).map(([name, make]) => [name, make()]));
  const length = Number(
    request.headers['x-amz-decoded-content-length'] ?? request.headers['content-length'] ?? Number.NaN,
  );
  let size = 0;
  async function* measured(): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      size += chunk.byteLength;
      sha256.update(chunk);
      for (const sum of sums.values()) sum.update(chunk);
      yield chunk;
    }
  }
  const check = () => {
    if (!Number.isNaN(length) && size !== length)
      throw new S3Error('IncompleteBody', 'The body is not as long as was said.');
    if (!streamed && payload !== UNSIGNED && payload !== sha256.digest('hex')) {
      throw new S3Error('XAmzContentSHA256Mismatch', 'The body is not the one that was signed.');
    }
    return checkSums(request, trailers, sums);
  };
  return { chunks: measured(), check };
}

/** Compares each checksum that came as a header or trailer; those worth keeping are returned. */
function checkSums(
  request: IncomingMessage,
  trailers: ReadonlyMap<string, string>,
  sums: ReadonlyMap<string, Checksum>,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, sum] of sums) {
    const header = request.headers[name];
    const wanted = trailers.get(name) ?? (typeof header === 'string' ? header : undefined);
    if (wanted === undefined) continue;
    if (wanted !== sum.digest()) throw new S3Error('BadDigest', `${name} does not match the body.`);
    if (name !== 'content-md5') kept[name] = wanted;
  }
  return kept;
}

async function* limited(request: IncomingMessage): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    size += chunk.byteLength;
    if (size > MAX_BYTES) throw new S3Error('EntityTooLarge', 'The sandbox keeps objects of up to 512 MiB.');
    yield chunk;
  }
}

const MAX_LINE = 1024;

/** aws-chunked: `<hex size>[;extension]\r\n<bytes>\r\n … 0\r\n<trailer lines>\r\n`. */
async function* unchunk(
  source: AsyncIterable<Buffer>,
  trailers: Map<string, string>,
): AsyncGenerator<Buffer> {
  const reader = new ByteReader(source);
  for (;;) {
    const line = await reader.line();
    const size = /^([0-9a-f]{1,8})(;.*)?$/i.exec(line)?.[1];
    if (size === undefined) throw new S3Error('IncompleteBody', 'The aws-chunked body is malformed.');
    const bytes = Number.parseInt(size, 16);
    if (bytes === 0) break;
    yield* reader.bytes(bytes);
    if ((await reader.line()) !== '')
      throw new S3Error('IncompleteBody', 'The aws-chunked body is malformed.');
  }
  for (let line = await reader.line(true); line !== ''; line = await reader.line(true)) {
    const colon = line.indexOf(':');
    if (colon > 0) trailers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
}

class ByteReader {
  private readonly source: AsyncIterator<Buffer>;
  private rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.source = source[Symbol.asyncIterator]();
  }

  private async more(): Promise<boolean> {
    const next = await this.source.next();
    if (next.done) return false;
    this.rest = Buffer.concat([this.rest, next.value]);
    return true;
  }

  /** The next line; at the very end of the body a missing one counts as empty when `mayEnd`. */
  async line(mayEnd = false): Promise<string> {
    for (;;) {
      const end = this.rest.indexOf('\r\n');
      if (end >= 0) {
        const line = this.rest.subarray(0, end).toString('latin1');
        this.rest = this.rest.subarray(end + 2);
        return line;
      }
      const tooLong = this.rest.length > MAX_LINE;
      if (!tooLong && (await this.more())) continue;
      if (mayEnd && this.rest.length === 0) return '';
      throw new S3Error('IncompleteBody', 'The aws-chunked body is cut short.');
    }
  }

  async *bytes(count: number): AsyncGenerator<Buffer> {
    let left = count;
    while (left > 0) {
      if (this.rest.length === 0 && !(await this.more()))
        throw new S3Error('IncompleteBody', 'The aws-chunked body is cut short.');
      const chunk = this.rest.subarray(0, left);
      this.rest = this.rest.subarray(chunk.length);
      left -= chunk.length;
      yield chunk;
    }
  }
}
