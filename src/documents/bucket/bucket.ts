import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { REQUEST_TIMEOUT_MS } from '../../api/request-defaults.ts';
import { abortReason } from '../../kernel/clock.ts';
import { counted } from '../../kernel/duration.ts';
import { codeOf, StorageError } from '../../kernel/errors.ts';
import type { StorageSettings } from '../../settings/profile.ts';
import { connect } from './connection.ts';
import { metadataFromHeaders, type ObjectMetadata, type OpenedObject } from './object-headers.ts';
import { type BucketExchange, createSender } from './requests.ts';
import { isBucketMissing, isObjectMissing, notS3Error, storageError } from './storage-problems.ts';

export interface OpenOptions {
  from?: number | undefined;
  /** Open only if the object has this ETag. */
  ifMatch?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** The customer's bucket, read-only. */
export interface Bucket {
  readonly name: string;
  /** Returns undefined if the object has changed: it has another ETag, or fewer bytes. */
  open(key: string, request?: OpenOptions): Promise<OpenedObject | undefined>;
  head(key: string, signal?: AbortSignal): Promise<ObjectMetadata>;
  /** Returns a URL with which anyone can download the object. */
  link(key: string, seconds: number): Promise<string>;
  close(): void;
}

export interface ConnectOptions {
  /** The timeout for connecting, for the first byte, and between two bytes, each in ms. */
  timeoutMs?: number | undefined;
  /** How often a request is sent at most. Default: 4. */
  maxAttempts?: number | undefined;
  trace?: ((exchange: BucketExchange) => void) | undefined;
}

/**
 * Connects to the bucket of a profile. The SDK is loaded only here because it is large.
 * @throws StorageError if no bucket is configured.
 */
export async function openBucket(
  settings: StorageSettings,
  { timeoutMs = REQUEST_TIMEOUT_MS, maxAttempts = 4, trace }: ConnectOptions = {},
): Promise<Bucket> {
  const name = settings.bucket;
  if (name === undefined) {
    throw new StorageError('STORAGE_NOT_CONFIGURED', 'No bucket is configured.', {
      hint: "Set one with `esign profiles edit NAME --bucket BUCKET [--endpoint URL] [--region REGION]`, or with ESIGN_BUCKET if you don't use a profile.",
    });
  }
  const sdk = await import('./s3-sdk.ts');
  const { client, endpoint } = await connect(sdk, settings, timeoutMs);
  const sender = createSender(sdk, { client, bucket: name, timeoutMs, maxAttempts, trace });
  const failure = (error: unknown, key: string, action: string, signal?: AbortSignal) =>
    signal?.aborted ? abortReason(signal) : storageError(error, { bucket: name, endpoint, key, action });
  return {
    name,
    async open(key, request = {}) {
      const { signal } = request;
      signal?.throwIfAborted();
      try {
        const { status, headers, body } = await sender.send({
          method: 'GET',
          key,
          headers: conditionsOf(request),
          signal,
        });
        if (status === 412 || status === 416) return undefined;
        return {
          ...metadataFromHeaders(headers),
          body: bytesOf(body, timeoutMs),
          cancel: () => void body.destroy(),
        };
      } catch (error) {
        throw failure(error, key, 'fetch', signal);
      }
    },
    async head(key, signal) {
      let facts: ObjectMetadata;
      try {
        const { headers, body } = await sender.send({ method: 'HEAD', key, signal });
        body.destroy();
        ({ facts } = metadataFromHeaders(headers));
      } catch (error) {
        throw failure(error, key, 'read the metadata of', signal);
      }
      if (facts.etag !== undefined) return facts;
      throw notS3Error(`Can't read the metadata of ${key}: the response has no ETag.`);
    },
    async link(key, seconds) {
      try {
        return await sender.sign(key, seconds);
      } catch (error) {
        throw failure(error, key, 'link to');
      }
    },
    close: () => sender.close(),
  };
}

function conditionsOf({ from = 0, ifMatch }: OpenOptions): Record<string, string> {
  return {
    ...(from > 0 ? { range: `bytes=${from}-` } : {}),
    ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
  };
}

/** Yields the bytes as they arrive, and throws if the body is incomplete or stalls. */
async function* bytesOf(body: Readable, timeoutMs: number): AsyncGenerator<Uint8Array, void, undefined> {
  const chunks: AsyncIterable<unknown> = body;
  try {
    for await (const chunk of chunks) if (chunk instanceof Uint8Array) yield chunk;
  } catch (error) {
    if (codeOf(error) !== 'UND_ERR_BODY_TIMEOUT') throw error;
    throw new Error(`no data for ${counted(Math.round(timeoutMs / 1_000), 'second')}`, { cause: error });
  }
}

/**
 * Requests an object that doesn't exist. "Not found" means that the bucket can be reached and read. `unknown` means "access denied", which
 * a key without s3:ListBucket gets for every missing object.
 * @throws StorageError if it can't be reached, does not exist, refuses the credentials, or isn't an S3 service.
 */
export async function probeBucket(
  settings: StorageSettings,
  { timeoutMs, signal }: { timeoutMs?: number; signal?: AbortSignal } = {},
): Promise<'yes' | 'unknown'> {
  // A single attempt, because a person is waiting for the reason.
  const bucket = await openBucket(settings, { timeoutMs, maxAttempts: 1 });
  try {
    const opened = await bucket.open(`esign/doctor/${randomUUID()}`, { signal });
    opened?.cancel();
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    if (error.code === 'STORAGE_DENIED') return 'unknown';
    if (isObjectMissing(error)) return 'yes';
    if (error.code !== 'STORAGE_NOT_FOUND' || isBucketMissing(error)) throw error;
  } finally {
    bucket.close();
  }
  throw notS3Error(`The endpoint of bucket ${bucket.name} does not respond like S3.`);
}
