import { hash } from 'node:crypto';
import { hmac, scopeText } from './canonical.ts';
import { startHash } from './checksums.ts';
import { S3Error } from './s3-error.ts';
import { isEqualInConstantTime, type SignatureChain } from './sigv4.ts';

/*
 * aws-chunked: `<hex size>[;chunk-signature=<hex>]\r\n<bytes>\r\n … 0…\r\n[<trailer lines>]\r\n`. If chunks are signed, each signature
 * covers its chunk and the previous signature.
 */

const MAX_LINE = 8_192;
const SIGNATURE_TRAILER = 'x-amz-trailer-signature';

export interface ChunkedOptions {
  /** Present if the chunks are signed. */
  chain?: SignatureChain | undefined;
  /** Receives the trailers, by lowercase name. */
  trailers: Map<string, string>;
}

/**
 * Yields the bytes inside an aws-chunked body. A chunk's bytes are yielded before its signature is verified.
 * @throws S3Error IncompleteBody for broken framing, SignatureDoesNotMatch for a changed chunk.
 */
export async function* unchunk(
  source: AsyncIterable<Buffer>,
  { chain, trailers }: ChunkedOptions,
): AsyncGenerator<Buffer> {
  const reader = new ByteReader(source);
  const seal = chain === undefined ? undefined : new Seal(chain);
  try {
    yield* chunksOf(reader, seal);
    await readTrailers(reader, trailers);
  } finally {
    await reader.close();
  }
  seal?.checkTrailers(trailers);
  trailers.delete(SIGNATURE_TRAILER);
}

async function* chunksOf(reader: ByteReader, seal: Seal | undefined): AsyncGenerator<Buffer> {
  for (;;) {
    const { size, signature } = chunkHeader(await reader.line());
    const hash = startHash('sha256');
    for await (const bytes of reader.bytes(size)) {
      if (seal) hash.update(bytes);
      yield bytes;
    }
    seal?.checkChunk(hash.digest().toString('hex'), signature);
    if (size === 0) return;
    if ((await reader.line()) !== '') throw malformed();
  }
}

function chunkHeader(line: string): { size: number; signature: string } {
  const parts = /^([0-9a-f]{1,10})(?:;chunk-signature=([0-9a-f]{64}))?$/i.exec(line);
  if (parts === null) throw malformed();
  const [, size = '', signature = ''] = parts;
  return { size: Number.parseInt(size, 16), signature };
}

async function readTrailers(reader: ByteReader, trailers: Map<string, string>): Promise<void> {
  for (let line = await reader.line(true); line !== ''; line = await reader.line(true)) {
    const colon = line.indexOf(':');
    if (colon <= 0 || trailers.size > 10)
      throw new S3Error('MalformedTrailerError', 'The trailer is not well-formed.');
    trailers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
}

/** Verifies the chain of signatures over the chunks of a body. */
class Seal {
  readonly #chain: SignatureChain;
  #previous: string;

  constructor(chain: SignatureChain) {
    this.#chain = chain;
    this.#previous = chain.seed;
  }

  checkChunk(digest: string, signature: string): void {
    this.#check('AWS4-HMAC-SHA256-PAYLOAD', [hash('sha256', ''), digest], signature);
  }

  /** Checks the trailers' signature. Does nothing if the body has no trailers. */
  checkTrailers(trailers: ReadonlyMap<string, string>): void {
    if (trailers.size === 0) return;
    const text = [...trailers]
      .filter(([name]) => name !== SIGNATURE_TRAILER)
      .map(([name, value]) => `${name}:${value}\n`)
      .join('');
    this.#check('AWS4-HMAC-SHA256-TRAILER', [hash('sha256', text)], trailers.get(SIGNATURE_TRAILER) ?? '');
  }

  #check(kind: string, hashes: readonly string[], signature: string): void {
    const { key, time, scope } = this.#chain;
    const text = [kind, time, scopeText(scope), this.#previous, ...hashes].join('\n');
    const expected = hmac(key, text).toString('hex');
    if (!isEqualInConstantTime(signature, expected))
      throw new S3Error('SignatureDoesNotMatch', 'The signature of a chunk of the body does not match.');
    this.#previous = expected;
  }
}

class ByteReader {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Reads the next line. At the end of the body, returns an empty line if `mayEnd`. */
  async line(mayEnd = false): Promise<string> {
    for (;;) {
      const end = this.#rest.indexOf('\r\n');
      if (end > MAX_LINE || (end < 0 && this.#rest.length > MAX_LINE)) throw malformed();
      if (end >= 0) return this.#take(end + 2).toString('latin1', 0, end);
      if (await this.#more()) continue;
      if (mayEnd && this.#rest.length === 0) return '';
      throw cutShort();
    }
  }

  async *bytes(count: number): AsyncGenerator<Buffer> {
    for (let left = count; left > 0; ) {
      if (this.#rest.length === 0 && !(await this.#more())) throw cutShort();
      const chunk = this.#take(Math.min(left, this.#rest.length));
      left -= chunk.length;
      yield chunk;
    }
  }

  /** Releases the source, so that the rest of the request can be discarded. */
  async close(): Promise<void> {
    await this.#source.return?.();
  }

  #take(count: number): Buffer {
    const taken = this.#rest.subarray(0, count);
    this.#rest = this.#rest.subarray(count);
    return taken;
  }

  async #more(): Promise<boolean> {
    const next = await this.#source.next();
    if (next.done) return false;
    this.#rest = this.#rest.length === 0 ? next.value : Buffer.concat([this.#rest, next.value]);
    return true;
  }
}

function malformed(): S3Error {
  return new S3Error('IncompleteBody', 'The aws-chunked body is malformed.');
}

function cutShort(): S3Error {
  return new S3Error('IncompleteBody', 'The aws-chunked body is cut short.');
}
