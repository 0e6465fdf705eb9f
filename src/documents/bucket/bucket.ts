import { randomUUID } from 'node:crypto';
import type { GetObjectCommand } from '@aws-sdk/client-s3';
import { REQUEST_TIMEOUT_MS } from '../../api/defaults.ts';
import { abortReason } from '../../kernel/clock.ts';
import { StorageError } from '../../kernel/errors.ts';
import { type BucketSettings, type ConnectOptions, connect } from './connection.ts';
import { isBucketMissing, isObjectMissing, notFromS3, statusOf, storageError } from './errors.ts';
import {
  factsOf,
  type ObjectFacts,
  type Opened,
  openedForStatus,
  openedFromPlainGet,
  openedOf,
} from './object.ts';
import { plainGets } from './plain-get.ts';

export interface OpenOptions {
  from?: number | undefined;
  /** Open only if the object has this ETag; otherwise the result is `changed`. */
  ifMatch?: string | undefined;
  /** Open only if the object has a different ETag; otherwise the result is `same`. */
  ifNoneMatch?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** The customer's bucket, read-only. */
export interface Bucket {
  readonly name: string;
  open(key: string, request?: OpenOptions): Promise<Opened>;
  head(key: string, signal?: AbortSignal): Promise<ObjectFacts>;
  /** Returns a URL with which anyone can download the object, and when it expires. */
  link(key: string, seconds: number): Promise<string>;
  close(): void;
}

/**
 * Connects to the bucket of a profile. The SDK is loaded only here because it is large.
 * @throws StorageError if no bucket is configured.
 */
export async function openBucket(
  settings: BucketSettings,
  { timeoutMs = REQUEST_TIMEOUT_MS, maxAttempts, trace }: ConnectOptions = {},
): Promise<Bucket> {
  const name = settings.bucket;
  if (name === undefined) {
    throw new StorageError('STORAGE_NOT_CONFIGURED', 'No bucket is configured.', {
      hint: "Set one with `esign profiles edit NAME --bucket BUCKET [--endpoint URL] [--region REGION]`, or with ESIGN_BUCKET if you don't use a profile.",
    });
  }
  const sdk = await import('./s3-sdk.ts');
  const { client, endpoint } = await connect(sdk, settings, { timeoutMs, maxAttempts, trace });
  const where = { bucket: name, endpoint };
  const failure = (error: unknown, key: string, action: string, signal?: AbortSignal) =>
    signal?.aborted ? abortReason(signal) : storageError(error, { ...where, key, action });
  let getPlain: ReturnType<typeof plainGets> | undefined;
  return {
    name,
    async open(key, request = {}) {
      const { signal } = request;
      signal?.throwIfAborted();
      getPlain ??= plainGets(sdk, client, name, trace);
      const answer = await getPlain(key, headersOf(request), signal);
      signal?.throwIfAborted();
      if ('reply' in answer) return openedFromPlainGet(answer.reply, timeoutMs);
      try {
        const command = new sdk.GetObjectCommand({ Bucket: name, Key: key, ...conditionsOf(request) });
        if (answer.firstTry) runCommand(command, answer.firstTry);
        return openedOf(await client.send(command, signal ? { abortSignal: signal } : {}), timeoutMs);
      } catch (error) {
        const answered = openedForStatus(statusOf(error));
        if (answered !== undefined) return answered;
        throw failure(error, key, 'fetch', signal);
      }
    },
    async head(key, signal) {
      try {
        const command = new sdk.HeadObjectCommand({ Bucket: name, Key: key, ChecksumMode: 'ENABLED' });
        const reply = await client.send(command, signal ? { abortSignal: signal } : {});
        if (reply.ETag !== undefined) return factsOf(reply, reply.ContentLength);
      } catch (error) {
        throw failure(error, key, 'read the metadata of', signal);
      }
      throw notFromS3(`Can't read the metadata of ${key}: the response has no ETag.`);
    },
    async link(key, seconds) {
      try {
        const { getSignedUrl } = await import('./s3-presigner.ts');
        const command = new sdk.GetObjectCommand({ Bucket: name, Key: key });
        return await getSignedUrl(client, command, { expiresIn: seconds });
      } catch (error) {
        throw failure(error, key, 'link to');
      }
    },
    close: () => client.destroy(),
  };
}

function headersOf({ from = 0, ifMatch, ifNoneMatch }: OpenOptions): Record<string, string> {
  return {
    ...(from > 0 ? { range: `bytes=${from}-` } : { 'x-amz-checksum-mode': 'ENABLED' }),
    ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
    ...(ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch }),
  };
}

/** Passes the result of the first attempt to the SDK, which handles it as if it were its own. */
function runCommand(command: GetObjectCommand, firstTry: () => Promise<{ response: unknown }>): void {
  let first: typeof firstTry | undefined = firstTry;
  command.middlewareStack.add(
    (next) => (args) => {
      const given = first;
      first = undefined;
      return given === undefined ? next(args) : given();
    },
    { step: 'deserialize', priority: 'low' },
  );
}

function conditionsOf({ from = 0, ifMatch, ifNoneMatch }: OpenOptions) {
  return {
    ...(from > 0 ? { Range: `bytes=${from}-` } : { ChecksumMode: 'ENABLED' as const }),
    ...(ifMatch === undefined ? {} : { IfMatch: ifMatch }),
    ...(ifNoneMatch === undefined ? {} : { IfNoneMatch: ifNoneMatch }),
  };
}

/**
 * Requests an object that doesn't exist. "Not found" means that the bucket can be reached and read. `unknown` means "access denied", which
 * a key without s3:ListBucket gets for every missing object.
 * @throws StorageError if it can't be reached, does not exist, refuses the credentials, or isn't an S3 service.
 */
export async function probeBucket(
  settings: BucketSettings,
  { timeoutMs, signal }: { timeoutMs?: number; signal?: AbortSignal } = {},
): Promise<'yes' | 'unknown'> {
  // A single attempt, because somebody is waiting for the reason of a problem.
  const bucket = await openBucket(settings, { timeoutMs, maxAttempts: 1 });
  try {
    const opened = await bucket.open(`esign/doctor/${randomUUID()}`, { signal });
    if (opened.kind === 'object') opened.cancel();
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    if (error.code === 'STORAGE_DENIED') return 'unknown';
    if (isObjectMissing(error)) return 'yes';
    if (error.code !== 'STORAGE_NOT_FOUND' || isBucketMissing(error)) throw error;
  } finally {
    bucket.close();
  }
  throw notFromS3(`The endpoint of bucket ${bucket.name} does not respond like S3.`);
}
