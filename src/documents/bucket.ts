import { Readable } from 'node:stream';
import type { S3ClientConfig } from '@aws-sdk/client-s3';
import { StorageError } from '../kernel/errors.ts';
import { proxyAgents } from './proxy.ts';
import { storageError } from './storage-error.ts';
import type { StorageSettings } from './storage-settings.ts';

/** An object's body as it arrives, with what the bucket says of it. */
export interface BucketObject {
  body: AsyncIterable<Uint8Array>;
  /** Bytes of the whole object, where the bucket said so. */
  size: number | undefined;
  etag: string | undefined;
  /** Where the body starts: 0, unless a part was asked for and given. */
  from: number;
}

/** What a bucket says of an object without sending it. */
export interface ObjectFacts {
  key: string;
  size: number | null;
  etag: string | null;
  contentType: string | null;
  /** ISO 8601. */
  lastModified: string | null;
}

/** The rest of an object, from a byte on, as long as it is still the same one. */
export interface Rest {
  from: number;
  etag: string;
}

/** The customer's own bucket, read only. Every method rejects with StorageError. */
export interface Bucket {
  name: string;
  open(
    key: string,
    options?: { rest?: Rest | undefined; signal?: AbortSignal | undefined },
  ): Promise<BucketObject>;
  head(key: string, signal?: AbortSignal): Promise<ObjectFacts>;
  /** A link that opens the object without a key for so many seconds. It is a secret. */
  link(key: string, seconds: number): Promise<string>;
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
  const sdk = await import('./s3-sdk.ts');
  const agents = await proxyAgents(settings.endpoint ?? 'https://s3.amazonaws.com');
  const client = new sdk.S3Client(clientOptions(settings, agents));
  const attempt = async <T>(
    key: string,
    signal: AbortSignal | undefined,
    ask: () => Promise<T>,
  ): Promise<T> => {
    try {
      return await ask();
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw storageError(error, { bucket: name, endpoint: settings.endpoint, key });
    }
  };
  const options = (signal: AbortSignal | undefined) => (signal ? { abortSignal: signal } : {});
  return {
    name,
    open: (key, { rest, signal } = {}) =>
      attempt(key, signal, async () => {
        const range = rest
          ? { Range: `bytes=${rest.from}-`, IfMatch: rest.etag }
          : { ChecksumMode: 'ENABLED' as const };
        const command = new sdk.GetObjectCommand({ Bucket: name, Key: key, ...range });
        const reply = await client.send(command, options(signal));
        const part = /^bytes (\d+)-\d+\/(\d+)$/.exec(reply.ContentRange ?? '');
        return {
          body: bytesOf(reply.Body),
          size: part ? Number(part[2]) : reply.ContentLength,
          etag: reply.ETag,
          from: part ? Number(part[1]) : 0,
        };
      }),
    head: (key, signal) =>
      attempt(key, signal, async () => {
        const reply = await client.send(
          new sdk.HeadObjectCommand({ Bucket: name, Key: key }),
          options(signal),
        );
        return {
          key,
          size: reply.ContentLength ?? null,
          etag: reply.ETag?.replaceAll('"', '') ?? null,
          contentType: reply.ContentType ?? null,
          lastModified: reply.LastModified?.toISOString() ?? null,
        };
      }),
    link: (key, seconds) =>
      attempt(key, undefined, () =>
        sdk.getSignedUrl(client, new sdk.GetObjectCommand({ Bucket: name, Key: key }), {
          expiresIn: seconds,
        }),
      ),
    close: () => client.destroy(),
  };
}

function clientOptions(
  settings: StorageSettings,
  agents: Awaited<ReturnType<typeof proxyAgents>>,
): S3ClientConfig {
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
      ...agents,
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
