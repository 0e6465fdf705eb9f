import { Readable } from 'node:stream';
import type { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { REQUEST_TIMEOUT_MS } from '../../api/defaults.ts';
import { abortReason } from '../../kernel/clock.ts';
import { counted } from '../../kernel/duration.ts';
import { StorageError } from '../../kernel/errors.ts';
import { type BucketExchange, type ConnectOptions, connect } from './connection.ts';
import { statusOf, storageError } from './errors.ts';
import { factsOf, type ObjectFacts, type ObjectReply, replyOf } from './object-facts.ts';
import { plainGets, type Reply } from './plain-get.ts';
import type { BucketSettings } from './settings.ts';

/** An object with its metadata and its body as a stream. */
export interface OpenedObject {
  kind: 'object';
  facts: ObjectFacts;
  /** The offset in the object of the body's first byte. */
  from: number;
  body: AsyncIterable<Uint8Array>;
  /** Discards an unread body. */
  cancel(): void;
}

/** The opened object, or the result of a condition: `same` if it is still the expected object, `changed` if not. */
export type Opened = OpenedObject | { kind: 'same' } | { kind: 'changed' };

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

export type { BucketExchange };

/**
 * Connects to the bucket of a profile. The SDK is loaded only here because it is large.
 * @throws StorageError if no bucket is configured.
 */
export async function openBucket(settings: BucketSettings, options: ConnectOptions = {}): Promise<Bucket> {
  const name = settings.bucket;
  if (name === undefined) {
    throw new StorageError('STORAGE_NOT_CONFIGURED', 'No bucket is configured.', {
      hint: "Set one with `esign profiles edit NAME --bucket BUCKET [--endpoint URL] [--region REGION]`, or with ESIGN_BUCKET if you don't use a profile.",
    });
  }
  const sdk = await import('./s3-sdk.ts');
  const { client, endpoint } = await connect(sdk, settings, options);
  const timeoutMs = options.timeoutMs ?? REQUEST_TIMEOUT_MS;
  const where = { bucket: name, endpoint };
  const failure = (error: unknown, key: string, action: string, signal?: AbortSignal) =>
    signal?.aborted ? abortReason(signal) : storageError(error, { ...where, key, action });
  const plainGet = plainGets(client, () => signedRequest(sdk, client, name), options.trace);
  return {
    name,
    async open(key, request = {}) {
      const { signal } = request;
      signal?.throwIfAborted();
      const answer = await plainGet(key, headersOf(request), signal);
      signal?.throwIfAborted();
      if ('reply' in answer) return openedFromPlainGet(answer.reply, timeoutMs);
      try {
        const command = new sdk.GetObjectCommand({ Bucket: name, Key: key, ...conditionsOf(request) });
        if (answer.firstTry) runCommand(command, answer.firstTry);
        return openedOf(await client.send(command, signal ? { abortSignal: signal } : {}), timeoutMs);
      } catch (error) {
        const answered = answerTo(statusOf(error));
        if (answered !== undefined) return answered;
        throw failure(error, key, 'fetch', signal);
      }
    },
    async head(key, signal) {
      try {
        const command = new sdk.HeadObjectCommand({ Bucket: name, Key: key, ChecksumMode: 'ENABLED' });
        const reply = await client.send(command, signal ? { abortSignal: signal } : {});
        return factsOf(reply, reply.ContentLength);
      } catch (error) {
        throw failure(error, key, 'read the metadata of', signal);
      }
    },
    link: (key, seconds) =>
      linkTo(client, new sdk.GetObjectCommand({ Bucket: name, Key: key }), seconds).catch(
        (error: unknown) => {
          throw failure(error, key, 'link to');
        },
      ),
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

function openedFromPlainGet({ statusCode, headers, body }: Reply, stallMs: number): Opened {
  const answered = answerTo(statusCode);
  if (answered === undefined) return openedOf({ ...replyOf(headers), Body: body }, stallMs);
  if (body instanceof Readable) body.resume();
  return answered;
}

/** Returns the meaning of a conditional request's HTTP status. */
function answerTo(status: number | undefined): Opened | undefined {
  if (status === 304) return { kind: 'same' };
  return status === 412 || status === 416 ? { kind: 'changed' } : undefined;
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

/** Returns a GET of the key `k` as the SDK would send it, without sending it. */
async function signedRequest(
  sdk: typeof import('./s3-sdk.ts'),
  client: S3Client,
  bucket: string,
): Promise<unknown> {
  const command = new sdk.GetObjectCommand({ Bucket: bucket, Key: 'k' });
  let request: unknown;
  command.middlewareStack.add(
    () => (args) => {
      ({ request } = args);
      return Promise.resolve({ output: { $metadata: {} }, response: { statusCode: 200, headers: {} } });
    },
    { step: 'deserialize', priority: 'high' },
  );
  await client.send(command);
  return request;
}

function conditionsOf({ from = 0, ifMatch, ifNoneMatch }: OpenOptions) {
  return {
    ...(from > 0 ? { Range: `bytes=${from}-` } : { ChecksumMode: 'ENABLED' as const }),
    ...(ifMatch === undefined ? {} : { IfMatch: ifMatch }),
    ...(ifNoneMatch === undefined ? {} : { IfNoneMatch: ifNoneMatch }),
  };
}

async function linkTo(
  client: S3Client,
  command: InstanceType<typeof import('./s3-sdk.ts').GetObjectCommand>,
  seconds: number,
): Promise<string> {
  const { getSignedUrl } = await import('./s3-presigner.ts');
  return getSignedUrl(client, command, { expiresIn: seconds });
}

function openedOf(reply: ObjectReply & { Body?: unknown }, stallMs: number): OpenedObject {
  const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(reply.ContentRange ?? '');
  const total = range === null ? reply.ContentLength : Number(range[2]);
  const size = total === undefined || Number.isNaN(total) ? undefined : total;
  return {
    kind: 'object',
    facts: factsOf(reply, size),
    from: range === null ? 0 : Number(range[1]),
    body: bytesOf(reply.Body, stallMs),
    cancel: () => {
      if (reply.Body instanceof Readable) reply.Body.destroy();
    },
  };
}

/**
 * Yields the bytes as they arrive, and throws if the body is incomplete. Only waiting for bytes counts as a stall, not a slow consumer. The
 * SDK declares several types of bodies; in Node it is always a stream.
 */
async function* bytesOf(body: unknown, stallMs: number): AsyncGenerator<Uint8Array, void, undefined> {
  if (!(body instanceof Readable)) return;
  const watch = () =>
    setTimeout(
      () => body.destroy(new Error(`no data for ${counted(Math.round(stallMs / 1_000), 'second')}`)),
      stallMs,
    );
  let timer = watch();
  try {
    const chunks: AsyncIterable<unknown> = body;
    for await (const chunk of chunks) {
      clearTimeout(timer);
      if (chunk instanceof Uint8Array) yield chunk;
      timer = watch();
    }
  } finally {
    clearTimeout(timer);
  }
}
