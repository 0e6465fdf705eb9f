import type { IncomingMessage } from 'node:http';
import { startMd5 } from '../../kernel/digest.ts';
import { type Call, header } from './call.ts';
import {
  algorithmOf,
  type Body,
  checksumHeader,
  DEFAULT_ALGORITHM,
  type S3ChecksumAlgorithm,
  startChecksum,
  startHash,
} from './checksums.ts';
import { unchunk } from './chunked.ts';
import { S3Error } from './s3-error.ts';
import { UNSIGNED } from './sigv4.ts';

const GIB = 1024 ** 3;
/** The maximum body size that S3 accepts in one request. */
const MAX_BODY_BYTES = 5 * GIB;

/** The values of x-amz-content-sha256 for an aws-chunked body, and whether its chunks are signed. */
const STREAMED: ReadonlyMap<string, { signed: boolean }> = new Map([
  ['STREAMING-UNSIGNED-PAYLOAD-TRAILER', { signed: false }],
  ['STREAMING-AWS4-HMAC-SHA256-PAYLOAD', { signed: true }],
  ['STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER', { signed: true }],
]);

/** The properties that the client declared for the body. */
interface DeclaredBody {
  length: number;
  /** The SHA-256 in hex; undefined if the body as a whole isn't signed. */
  sha256: string | undefined;
  /** The MD5 in base64. */
  md5: string | undefined;
}

/**
 * Returns the body of a request, decoded if it is aws-chunked. Its check compares the length, the signed SHA-256, Content-MD5, and the
 * checksum from header or trailer, and returns the checksum to store.
 * @throws S3Error for invalid declarations, before any byte of the body is read.
 */
export function readBody(call: Call): Body {
  const streamed = STREAMED.get(call.verification.payload);
  const promised = declaredBody(call, streamed !== undefined);
  const algorithm = declaredAlgorithm(call) ?? DEFAULT_ALGORITHM;
  const trailers = new Map<string, string>();
  const raw = received(call);
  const source = streamed
    ? unchunk(raw, { trailers, chain: streamed.signed ? call.verification.chain : undefined })
    : raw;
  // Content-MD5 is ignored in FIPS mode; the signed SHA-256 and the checksum are still checked.
  const md5 = promised.md5 === undefined ? undefined : startMd5();
  const sha256 = promised.sha256 === undefined ? undefined : startHash('sha256');
  const sum = startChecksum(algorithm);
  let size = 0;
  async function* measured(): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      size += chunk.byteLength;
      if (size > promised.length) break;
      for (const one of [md5, sha256, sum]) one?.update(chunk);
      yield chunk;
    }
  }
  const check = () => {
    if (size !== promised.length)
      throw new S3Error('IncompleteBody', 'The body is not as long as its headers say.');
    if (sha256 && sha256.digest().toString('hex') !== promised.sha256)
      throw new S3Error('XAmzContentSHA256Mismatch', 'The body is not the one that was signed.');
    if (md5 && md5.digest().toString('base64') !== promised.md5)
      throw new S3Error('BadDigest', 'The Content-MD5 you specified did not match what we received.');
    const actual = { [checksumHeader(algorithm)]: sum.digest().toString('base64') };
    compareSum(call, trailers, actual);
    return actual;
  };
  return { chunks: measured(), check };
}

function declaredBody(call: Call, streamed: boolean): DeclaredBody {
  const { payload } = call.verification;
  if (!streamed && payload !== UNSIGNED && !/^[0-9a-f]{64}$/.test(payload))
    throw new S3Error('InvalidArgument', 'x-amz-content-sha256 is neither a SHA-256 nor a supported value.');
  const md5 = header(call, 'content-md5');
  if (md5 !== undefined && !isBase64Of(md5, 16))
    throw new S3Error('InvalidDigest', 'The Content-MD5 you specified was invalid.');
  return {
    length: lengthOf(call, streamed),
    sha256: streamed || payload === UNSIGNED ? undefined : payload,
    md5,
  };
}

function lengthOf(call: Call, streamed: boolean): number {
  const text = header(call, streamed ? 'x-amz-decoded-content-length' : 'content-length');
  if (text === undefined || !/^\d{1,15}$/.test(text))
    throw new S3Error('MissingContentLength', 'You must provide the Content-Length HTTP header.');
  if (Number(text) > MAX_BODY_BYTES)
    throw new S3Error('EntityTooLarge', 'Your proposed upload exceeds the maximum allowed size.', {
      MaxSizeAllowed: String(MAX_BODY_BYTES),
    });
  return Number(text);
}

/** Returns the algorithm of the checksum in a header or announced for the trailer. */
function declaredAlgorithm(call: Call): S3ChecksumAlgorithm | undefined {
  const named = [...Object.keys(call.request.headers), ...announcedTrailers(call)].filter(isChecksum);
  const [name, another] = new Set(named);
  if (another !== undefined)
    throw new S3Error('InvalidRequest', 'Expecting a single x-amz-checksum- header.');
  if (name === undefined) return undefined;
  const algorithm = algorithmOf(name.slice('x-amz-checksum-'.length));
  if (algorithm === undefined) throw new S3Error('NotImplemented', `${name} is not supported here.`);
  const value = header(call, name);
  if (value !== undefined && !isBase64Of(value, startChecksum(algorithm).digest().length))
    throw new S3Error('InvalidRequest', `Value for ${name} header is invalid.`);
  return algorithm;
}

function isChecksum(name: string): boolean {
  return /^x-amz-checksum-(?!algorithm$|type$|mode$)/.test(name);
}

function isBase64Of(text: string, length: number): boolean {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === length && bytes.toString('base64') === text;
}

function announcedTrailers(call: Call): string[] {
  return (header(call, 'x-amz-trailer') ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
}

function compareSum(
  call: Call,
  trailers: ReadonlyMap<string, string>,
  actual: Readonly<Record<string, string>>,
): void {
  const missing = announcedTrailers(call).find((name) => !trailers.has(name));
  if (missing !== undefined)
    throw new S3Error('MalformedTrailerError', `The trailer ${missing} was announced but not sent.`);
  for (const [name, value] of Object.entries(actual)) {
    const promised = trailers.get(name) ?? header(call, name) ?? value;
    if (promised !== value)
      throw new S3Error('BadDigest', `The ${name} you specified did not match the body.`);
  }
}

async function* received({ request, response }: Call): AsyncGenerator<Buffer> {
  if (expectsContinue(request)) response.writeContinue();
  // Stopping early must not destroy the request, because the client must still get the error.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    if (Buffer.isBuffer(chunk)) yield chunk;
  }
}

/** Returns true if the client sends the body only after a 100 Continue. */
export function expectsContinue(request: IncomingMessage): boolean {
  return request.headers.expect?.toLowerCase() === '100-continue';
}
