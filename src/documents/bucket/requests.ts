import type { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { type Connections, createConnections } from '../../api/connection/dispatcher.ts';
import { type BackOff, backOff } from '../../kernel/async/back-off.ts';
import { systemClock } from '../../kernel/clock.ts';
import { codeOf, messageOf, UsageError } from '../../kernel/errors.ts';
import { CERTIFICATE } from '../../kernel/network/unreachable.ts';
import { readBounded } from '../../kernel/streams.ts';
import { bucketErrorOf } from './bucket-error.ts';
import type { BucketHeaders } from './object-headers.ts';

/*
 * The one way to the bucket: the SDK signs a URL (credentials, region, endpoint, address style), and the request is sent over the same
 * connections as those to the service, with their proxies and certificates.
 */

/** A request to the bucket and its result, for --debug. */
export interface BucketExchange {
  method: string;
  /** Without the query, which has the signature. */
  url: string;
  status: number | undefined;
  ms: number;
  error: string | undefined;
}

export interface BucketRequest {
  method: 'GET' | 'HEAD';
  key: string;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
}

export interface BucketReply {
  status: number;
  headers: BucketHeaders;
  body: Readable;
}

interface SenderOptions {
  client: S3Client;
  bucket: string;
  /** The timeout for connecting, for the first byte, and between two bytes, each in ms. */
  timeoutMs: number;
  /** How often a request is sent at most. */
  maxAttempts: number;
  trace: ((exchange: BucketExchange) => void) | undefined;
}

/** How long a signed URL is valid that is used immediately. */
const URL_SECONDS = 900;
const RETRY_DELAY: BackOff = { firstMs: 100, longestMs: 2_000 };
/** Responses that answer a condition of the request: precondition failed, range not satisfiable. */
const ANSWERS: readonly number[] = [412, 416];
/** The maximum size of an error body. S3 errors are a few hundred bytes of XML. */
const MAX_ERROR_BYTES = 64 * 1024;
/** Must be signed, because it begins with x-amz-. It asks for the checksum of the object. */
const CHECKSUM_MODE = 'x-amz-checksum-mode';

export interface BucketSender {
  /** Sends a request, again if it failed temporarily. Rejects with the error of the SDK, the connection, or the bucket. */
  send(request: BucketRequest): Promise<BucketReply>;
  /** Returns a URL with which anyone can read an object. */
  sign(key: string, seconds: number): Promise<string>;
  close(): void;
}

export function createSender(sdk: typeof import('./s3-sdk.ts'), options: SenderOptions): BucketSender {
  const { client, bucket, maxAttempts } = options;
  let connections: Connections | undefined;
  const sign = (method: BucketRequest['method'], key: string, isChecked: boolean, seconds: number) => {
    const mode = isChecked ? ({ ChecksumMode: 'ENABLED' } as const) : {};
    const input = { Bucket: bucket, Key: key, ...mode };
    const command = method === 'GET' ? new sdk.GetObjectCommand(input) : new sdk.HeadObjectCommand(input);
    return sdk.getSignedUrl(client, command, {
      expiresIn: seconds,
      unhoistableHeaders: new Set([CHECKSUM_MODE]),
    });
  };
  async function attempt(request: BucketRequest): Promise<BucketReply> {
    const isChecked = request.headers?.range === undefined;
    const url = await sign(request.method, request.key, isChecked, URL_SECONDS);
    const [origin = ''] = /^https?:\/\/[^/]+/.exec(url) ?? [];
    connections ??= createConnections(new URL(origin), options.timeoutMs);
    const mode = isChecked ? { [CHECKSUM_MODE]: 'ENABLED' } : {};
    // A URL object would normalize the path, which must stay as it was signed.
    return exchange(
      connections,
      { ...request, headers: { ...request.headers, ...mode } },
      origin,
      url,
      options,
    );
  }
  return {
    async send(request) {
      for (let failures = 0; ; failures++) {
        try {
          return await attempt(request);
        } catch (error) {
          request.signal?.throwIfAborted();
          if (failures + 1 >= maxAttempts || !isTemporary(error)) throw error;
          await systemClock.sleep(backOff(failures, RETRY_DELAY), request.signal);
        }
      }
    },
    sign: (key, seconds) => sign('GET', key, false, seconds),
    close: () => {
      client.destroy();
      void connections?.dispatcher.destroy();
    },
  };
}

async function exchange(
  { dispatcher }: Connections,
  { method, headers, signal }: BucketRequest,
  origin: string,
  url: string,
  { timeoutMs, trace }: SenderOptions,
): Promise<BucketReply> {
  const started = Date.now();
  const entry = { method, url: url.replace(/\?.*$/s, ''), status: undefined, error: undefined };
  const path = url.slice(origin.length);
  const sent = dispatcher.request({ origin, path, method, headers: headers ?? {}, signal: signal ?? null });
  const reply = await sent.catch((error: unknown) => {
    trace?.({ ...entry, error: messageOf(error), ms: Date.now() - started });
    throw error;
  });
  const { statusCode: status, body } = reply;
  trace?.({ ...entry, status, ms: Date.now() - started });
  // A body that is discarded reports that as an error, which concerns nobody.
  body.on('error', () => undefined);
  if (status < 300) return { status, headers: reply.headers, body };
  if (ANSWERS.includes(status)) body.destroy();
  else throw bucketErrorOf(status, reply.headers, await errorText(body, timeoutMs));
  return { status, headers: reply.headers, body };
}

/** Returns the body of an error, or nothing if it is too long or stalls; the error then has only the status. */
async function errorText(body: Readable, timeoutMs: number): Promise<string> {
  const timer = setTimeout(() => body.destroy(), timeoutMs);
  try {
    return (await readBounded(body, MAX_ERROR_BYTES)).toString('utf8');
  } catch {
    return '';
  } finally {
    clearTimeout(timer);
    body.destroy();
  }
}

const TEMPORARY: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/** Returns true if the same request may succeed later: an overloaded bucket, or a connection that failed. */
function isTemporary(error: unknown): boolean {
  if (error instanceof UsageError) return false;
  const { status } = error instanceof Error && 'status' in error ? error : { status: undefined };
  if (typeof status === 'number') return TEMPORARY.has(status);
  const code = codeOf(error);
  return (
    code !== undefined &&
    code !== 'ENOTFOUND' &&
    !CERTIFICATE.has(code) &&
    /^(E[A-Z]+|UND_ERR_\w+)$/.test(code)
  );
}
