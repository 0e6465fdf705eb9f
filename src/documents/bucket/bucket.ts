import type { ClientRequest, IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { S3Client } from '@aws-sdk/client-s3';
import { abortReason } from '../../kernel/clock.ts';
import { counted } from '../../kernel/duration.ts';
import { StorageError } from '../../kernel/errors.ts';
import { QuickLane } from '../quick-lane.ts';
import type { Whole } from '../slabs.ts';
import { SMALL, type WholeReply } from '../whole-get.ts';
import { type BucketExchange, type ConnectOptions, connect, isDirect } from './connection.ts';
import { statusOf, storageError } from './errors.ts';
import { factsOf, type ObjectFacts, type ObjectReply, replyOf } from './object-facts.ts';
import type { StorageSettings } from './settings.ts';

/** An object's body as it arrives, with what the bucket says of it. */
export interface OpenedObject {
  kind: 'object';
  facts: ObjectFacts;
  /** The first byte of the body within the object. */
  from: number;
  body: AsyncIterable<Uint8Array>;
  /** The same bytes, where they came in one piece. */
  whole?: Whole;
  /** Lets go of a body that nobody will read. */
  cancel(): void;
}

/** The object; or that it still is (`same`) or no longer is (`changed`) the one that was asked for. */
export type Opened = OpenedObject | { kind: 'same' } | { kind: 'changed' };

export interface OpenRequest {
  from?: number | undefined;
  /** Only if the object's ETag is this one; else the answer is `changed`. */
  ifMatch?: string | undefined;
  /** Only if it is another one; else the answer is `same`. */
  ifNoneMatch?: string | undefined;
  /** A small object may come in one piece. */
  whole?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** The customer's own bucket, read only. */
export interface Bucket {
  readonly name: string;
  open(key: string, request?: OpenRequest): Promise<Opened>;
  head(key: string, signal?: AbortSignal): Promise<ObjectFacts>;
  /** A URL that lets anyone fetch the object for so long, and when that ends. */
  link(key: string, seconds: number): Promise<string>;
  /** How far this machine's clock is off, in ms, where the bucket refused a request for it. */
  clockOffset(): number;
  close(): void;
}

export type { BucketExchange };

const TIMEOUT_MS = 30_000;
/** How long the first request may keep the others waiting, in ms. */
const LEAD_MS = 2_000;

/**
 * Connects to the bucket of a profile. The SDK is loaded here and only here, since it is large.
 * @throws StorageError when no bucket is configured.
 */
export async function openBucket(settings: StorageSettings, options: ConnectOptions = {}): Promise<Bucket> {
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
  const sdk = await import('./s3-sdk.ts');
  const { client, endpoint, agents } = await connect(sdk, settings, options);
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  const where = { bucket: name, endpoint };
  const failure = (error: unknown, key: string, action: string, signal?: AbortSignal) =>
    signal?.aborted ? abortReason(signal) : storageError(error, { ...where, key, action });
  const lane = new QuickLane({
    keys: () => client.config.credentials(),
    clockOffset: () => client.config.systemClockOffset,
    agents,
    isDirect,
    timeoutMs,
  });
  const withSdk = async (key: string, request: OpenRequest): Promise<Opened> => {
    const { signal } = request;
    const command = new sdk.GetObjectCommand({ Bucket: name, Key: key, ...conditionsOf(request) });
    command.middlewareStack.add(
      (next) => async (args) => {
        const answer = await next(args);
        lane.learn(args.request, key);
        return answer;
      },
      { step: 'deserialize', priority: 'high' },
    );
    try {
      return openedOf(await client.send(command, signal ? { abortSignal: signal } : {}), timeoutMs);
    } catch (error) {
      const status = statusOf(error);
      if (status === 304) return { kind: 'same' };
      if (status === 412 || status === 416) return { kind: 'changed' };
      throw failure(error, key, 'fetch', signal);
    }
  };
  // One request of the SDK is enough to learn the way; each takes long.
  let leading: Promise<unknown> | undefined;
  const lead = (key: string, request: OpenRequest): Promise<Opened> => {
    const opening = withSdk(key, request);
    leading = Promise.race([opening.catch(() => undefined), pause(LEAD_MS, undefined, { ref: false })]);
    return opening;
  };
  let isLarge = false;
  /** A small object in one piece, anything else by the SDK; undefined where it is better streamed. */
  const openWhole = async (key: string, request: OpenRequest): Promise<Opened | undefined> => {
    if (leading === undefined) return lead(key, request);
    if (!lane.isOpen) await leading;
    if (!lane.isOpen) return withSdk(key, request);
    // After a large object others are likely to be large, and a connection is lost for each that is.
    if (isLarge) return undefined;
    const started = Date.now();
    const answer = await lane.getWhole(key, headersOf(request), request.signal);
    isLarge = answer === 'large';
    if (answer === 'large') return undefined;
    if (answer === undefined) return withSdk(key, request);
    options.trace?.({ ...lane.addressOf(key), status: 200, ms: Date.now() - started, error: undefined });
    return openedWhole(answer);
  };
  const openStreamed = async (key: string, request: OpenRequest): Promise<Opened> => {
    const started = Date.now();
    const reply = await lane.get(key, headersOf(request), request.signal);
    if (reply === undefined) return withSdk(key, request);
    options.trace?.(laneExchange(reply, Date.now() - started));
    const opened = openedByLane(reply, timeoutMs);
    if (opened.kind === 'object') isLarge = (opened.facts.size ?? Number.POSITIVE_INFINITY) > SMALL;
    return opened;
  };
  return {
    name,
    async open(key, request = {}) {
      if (request.signal?.aborted) throw abortReason(request.signal);
      const opened = request.whole ? await openWhole(key, request) : undefined;
      return opened ?? openStreamed(key, request);
    },
    async head(key, signal) {
      try {
        const command = new sdk.HeadObjectCommand({ Bucket: name, Key: key, ChecksumMode: 'ENABLED' });
        const reply = await client.send(command, signal ? { abortSignal: signal } : {});
        return factsOf(reply, reply.ContentLength);
      } catch (error) {
        throw failure(error, key, 'look at', signal);
      }
    },
    link: (key, seconds) =>
      linkTo(client, new sdk.GetObjectCommand({ Bucket: name, Key: key }), seconds).catch(
        (error: unknown) => {
          throw failure(error, key, 'link to');
        },
      ),
    clockOffset: () => client.config.systemClockOffset,
    close: () => {
      lane.close();
      client.destroy();
    },
  };
}

function laneExchange(reply: IncomingMessage & { req?: ClientRequest }, ms: number): BucketExchange {
  const { req } = reply;
  const url = req === undefined ? '' : `${req.protocol}//${req.host}${req.path}`;
  return { method: 'GET', url, status: reply.statusCode, ms, error: undefined };
}

function headersOf({ from = 0, ifMatch, ifNoneMatch }: OpenRequest): Record<string, string> {
  return {
    ...(from > 0 ? { range: `bytes=${from}-` } : { 'x-amz-checksum-mode': 'ENABLED' }),
    ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
    ...(ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch }),
  };
}

function openedByLane(reply: IncomingMessage, stallMs: number): Opened {
  const status = reply.statusCode ?? 0;
  if (status >= 300) {
    reply.resume();
    return { kind: status === 304 ? 'same' : 'changed' };
  }
  return openedOf({ ...replyOf(reply.headers), Body: reply }, stallMs);
}

function openedWhole({ headers, whole }: WholeReply): OpenedObject {
  const reply = replyOf(headers);
  const body = async function* () {
    yield whole.bytes;
  };
  return {
    kind: 'object',
    facts: factsOf(reply, reply.ContentLength),
    from: 0,
    body: body(),
    whole,
    cancel: () => whole.release(),
  };
}

function conditionsOf({ from = 0, ifMatch, ifNoneMatch }: OpenRequest) {
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
 * The bytes as they come; a body that stops half-way is an error. Only waiting for bytes counts as a stall:
 * whoever takes them may take their time. The SDK types a body as one of several kinds; in Node it is a stream.
 */
async function* bytesOf(body: unknown, stallMs: number): AsyncGenerator<Uint8Array, void, undefined> {
  if (!(body instanceof Readable)) return;
  const watch = () =>
    setTimeout(
      () => body.destroy(new Error(`no byte came for ${counted(Math.round(stallMs / 1_000), 'second')}`)),
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
