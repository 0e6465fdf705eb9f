import { Readable } from 'node:stream';
import type { S3ClientConfig } from '@aws-sdk/client-s3';
import { StorageError } from '../kernel/errors.ts';
import { storageError } from './storage-error.ts';
import type { StorageSettings } from './storage-settings.ts';

/** An object's body as it arrives, with what the bucket says of it. */
export interface BucketObject {
  body: AsyncIterable<Uint8Array>;
  /** Bytes of the whole object, where the bucket said so. */
  size: number | undefined;
  etag: string | undefined;
}

/** The customer's own bucket, read only. */
export interface Bucket {
  open(key: string, signal?: AbortSignal): Promise<BucketObject>;
  close(): void;
}

/**
 * Connects to the bucket of a profile. The SDK is loaded here and only here, since it is large.
 * @throws StorageError when no bucket is configured.
 */
export async function openBucket(settings: StorageSettings): Promise<Bucket> {
  const name = settings.bucket;
  if (name === undefined) {
    throw new StorageError(
      'STORAGE_NOT_CONFIGURED',
      'The profile does not say which bucket the documents are in.',
      {
        hint: 'Set it: `esign profiles edit NAME --bucket BUCKET [--endpoint URL] [--region REGION]`.',
      },
    );
  }
  // Only through the environment does the profile's endpoint_url count; the client option ignores it.
  if (settings.awsProfile !== undefined) process.env.AWS_PROFILE = settings.awsProfile;
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
  const { S3Client, GetObjectCommand } = await import('./s3-sdk.ts');
  const client = new S3Client(clientOptions(settings));
  const context = { bucket: name, endpoint: settings.endpoint };
  return {
    async open(key, signal) {
      try {
        const reply = await client.send(
          new GetObjectCommand({ Bucket: name, Key: key, ChecksumMode: 'ENABLED' }),
          signal ? { abortSignal: signal } : {},
        );
        return { body: bytesOf(reply.Body), size: reply.ContentLength, etag: reply.ETag };
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        throw storageError(error, { ...context, key });
      }
    },
    close: () => client.destroy(),
  };
}

function clientOptions(settings: StorageSettings): S3ClientConfig {
  const { endpoint, accessKeyId, secretAccessKey } = settings;
  const region = settings.region ?? process.env.AWS_REGION ?? process.env.AWS_DEFAULT_REGION;
  return {
    // Custom endpoints do not care about the region, but the SDK insists on one.
    ...(region === undefined && endpoint === undefined ? {} : { region: region ?? 'us-east-1' }),
    ...(endpoint === undefined ? {} : { endpoint }),
    forcePathStyle: settings.pathStyle ?? endpoint !== undefined,
    ...(accessKeyId === undefined || secretAccessKey === undefined
      ? {}
      : { credentials: { accessKeyId, secretAccessKey } }),
    maxAttempts: 4,
    // Without socketTimeout a body that stops half-way would hang for ever.
    requestHandler: {
      connectionTimeout: 10_000,
      requestTimeout: 30_000,
      throwOnRequestTimeout: true,
      socketTimeout: 30_000,
    },
  };
}

/** The SDK types a body as one of several kinds; in Node it is a stream of bytes. */
async function* bytesOf(body: unknown): AsyncGenerator<Uint8Array> {
  if (!(body instanceof Readable)) return;
  const chunks: AsyncIterable<unknown> = body;
  for await (const chunk of chunks) {
    if (chunk instanceof Uint8Array) yield chunk;
  }
}
