import { randomBytes } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { dropOldest } from '../../kernel/bounded.ts';
import type { Clock } from '../../kernel/clock.ts';
import { closeServer } from '../../kernel/network/listening.ts';
import { BodyLimitError, BoundedBody } from '../../kernel/streams.ts';
import { SIGNATURE_HEADER } from '../../kernel/vocabulary.ts';
import { openPort } from '../open-port.ts';
import { boundedRefusal, type Delivery } from './delivery.ts';
import { explainMismatch } from './explain.ts';
import { NO_PAYLOAD, readPayload } from './payload.ts';
import { checkSignature } from './signature.ts';

export interface ReceiverOptions {
  host: string;
  /** 0 picks any free port. */
  port: number;
  path: string;
  /**
   * Returns the secrets that may be valid (more than one during a rotation). Called with the envelope ID in the payload, which
   * isn't verified yet, and the payload's size. `others` are only used to explain a failure.
   */
  secretsFor: (
    envelopeId: string | null,
    bytes: number,
  ) => Promise<{ secrets: readonly string[]; others: readonly string[] }>;
  verify: boolean;
  clock: Clock;
  /** IDs received before this run. */
  seen?: Iterable<string>;
  /** Called for each delivery before the response. If it rejects, the response is 500, so that the sender retries. */
  onDelivery: (delivery: Delivery) => Promise<void> | void;
  /** Called with the reason for a response with 500. */
  onFailure: (error: unknown) => void;
  /** Called with the path of each request that was sent elsewhere. */
  onElsewhere: (path: string) => void;
  /** Called for each connection closed because too many were open. */
  onDropped: () => void;
}

export interface Receiver {
  url: string;
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 1024 * 1024;
/** The first two are time limits; the third is the interval at which they are checked. */
const TIME_LIMITS = { headersTimeout: 5_000, requestTimeout: 10_000, connectionsCheckingInterval: 1_000 };
const MAX_CONNECTIONS = 2_000;
/** The maximum number of remembered IDs: enough to recognize a day's repeats, with limited memory. */
const MAX_REMEMBERED_IDS = 100_000;

/**
 * Starts a server that receives webhooks. The raw bytes are verified before anything else.
 * Responds with 200 if valid, 401 invalid signature, 403 from a web page (unverified only), 400 not JSON, 413 over 1 MiB, 405 other method,
 * 404 other path.
 */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const seen = new Set<string>(options.seen);
  const server = createServer(TIME_LIMITS, (request, response) => {
    // Rejects if the sender disconnects during its request.
    void handle(request, response, options, seen).catch(() => answer(response, 500));
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on('drop', options.onDropped);
  const origin = await openPort(server, { ...options, flag: '--port', what: 'listen' });
  return {
    url: `${origin}${options.path}`,
    close: () => closeServer(server),
  };
}

/** Longer paths are truncated in reports. */
const MAX_PATH_LENGTH = 100;

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  options: ReceiverOptions,
  seen: Set<string>,
): Promise<void> {
  const [path = ''] = (request.url ?? '').split('?');
  if (withoutSlash(path) !== withoutSlash(options.path)) {
    options.onElsewhere(path.slice(0, MAX_PATH_LENGTH));
    return answer(response, 404);
  }
  if (request.method !== 'POST') return answer(response, 405);
  let raw: Buffer;
  try {
    raw = await readBody(request);
  } catch (error) {
    if (error instanceof BodyLimitError) return answer(response, 413);
    throw error;
  }
  let delivery: Delivery | undefined;
  try {
    delivery = await judge(raw, request, options, seen);
    await options.onDelivery(delivery);
  } catch (error) {
    // The sender will send it again, and that delivery is not a repeat.
    if (delivery?.reason === null && !delivery.duplicate) seen.delete(delivery.id);
    options.onFailure(error);
    return answer(response, 500);
  }
  answer(response, delivery.answer);
}

function withoutSlash(path: string): string {
  return path.replace(/\/$/, '');
}

async function judge(
  raw: Buffer,
  request: IncomingMessage,
  options: ReceiverOptions,
  seen: Set<string>,
): Promise<Delivery> {
  const payload = readPayload(raw);
  const requestRefusal = options.verify
    ? await signatureRefusal(raw, request, options, payload?.envelopeId ?? null)
    : isFromWebPage(request.headers)
      ? FROM_WEB_PAGE
      : null;
  const refusal = requestRefusal ?? (payload === undefined ? NOT_JSON : null);
  const { id } = payload ?? NO_PAYLOAD;
  // Only accepted IDs are remembered. Otherwise, a forged copy would make the real delivery look like a repeat.
  const duplicate = refusal === null && seen.has(id);
  if (refusal === null) dropOldest(seen.add(id), MAX_REMEMBERED_IDS);
  const delivery = {
    ...(payload ?? NO_PAYLOAD),
    deliveryId: `dlv_${randomBytes(9).toString('hex')}`,
    receivedAt: new Date(options.clock.now()).toISOString(),
    verified: options.verify && requestRefusal === null,
    duplicate,
    reason: refusal?.reason ?? null,
    answer: refusal?.answer ?? 200,
    raw,
    bytes: raw.byteLength,
    headers: pairsOf(request.rawHeaders),
  };
  return refusal === null ? delivery : boundedRefusal(delivery);
}

interface Refusal {
  answer: number;
  reason: string;
}
const NOT_JSON: Refusal = { answer: 400, reason: 'the body is not a JSON object' };
const FROM_WEB_PAGE: Refusal = { answer: 403, reason: 'a web page sent it' };

/** Returns why the signature is not valid, or null if it is. */
async function signatureRefusal(
  raw: Buffer,
  request: IncomingMessage,
  options: ReceiverOptions,
  envelopeId: string | null,
): Promise<Refusal | null> {
  const values = request.headersDistinct[SIGNATURE_HEADER.toLowerCase()];
  const known = await options.secretsFor(envelopeId, raw.byteLength);
  const check = checkSignature(raw, values, known.secrets);
  if (check.ok) return null;
  const isMismatch = check.failure === 'mismatch';
  return { answer: 401, reason: isMismatch ? explainMismatch(raw, values?.[0] ?? '', known) : check.reason };
}

function pairsOf(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, index): [string, string][] =>
    index % 2 === 0 ? [[name, raw[index + 1] ?? '']] : [],
  );
}

/** Reads the raw bytes with events, because iterating is much slower. @throws BodyLimitError */
function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const body = new BoundedBody(MAX_BODY_BYTES);
    const take = (piece: Buffer) => {
      try {
        body.add(piece);
      } catch (error) {
        // The rest is discarded until the connection is closed, because a paused stream would keep it open.
        request.off('data', take).resume();
        reject(error);
      }
    };
    request.on('data', take);
    request.on('end', () => resolve(body.bytes()));
    request.on('error', reject);
  });
}

const WORDS: Readonly<Record<number, string>> = {
  200: 'ok',
  400: 'the body is not a JSON object',
  401: 'invalid signature',
  403: 'browser requests are refused',
  404: 'not found',
  405: 'use POST',
  413: 'the body is larger than 1 MiB, or arrives in too many small pieces',
  500: 'not recorded; send it again',
};

function answer(response: ServerResponse, status: number): void {
  if (response.headersSent) return;
  const closes = status === 413 ? { connection: 'close' } : {};
  const allow = status === 405 ? { allow: 'POST' } : {};
  const text = `${WORDS[status] ?? ''}\n`;
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': text.length,
    ...closes,
    ...allow,
  });
  response.end(text);
}

/**
 * Returns true if a browser sent the request for a web page. If signatures aren't verified, any page that the user opens could
 * send made-up events. Services send none of these headers.
 */
function isFromWebPage(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  return headers.origin !== undefined || (site !== undefined && site !== 'none');
}
