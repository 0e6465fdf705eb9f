import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Clock } from '../../kernel/clock.ts';
import { closeServer, openPort } from '../../kernel/network/listening.ts';
import { BodyLimitError } from '../../kernel/streams.ts';
import { SIGNATURE_HEADER } from '../../kernel/vocabulary.ts';
import { AcceptedDeliveries } from './accepted-deliveries.ts';
import { BusyError, OpenBodies, TOO_LARGE } from './body-limits.ts';
import { limitConnections } from './connections.ts';
import { ACCEPTED, type Delivery, isAccepted, newDeliveryId, truncateRefusal } from './delivery.ts';
import { explainMismatch } from './explain-mismatch.ts';
import { refuseConnection, type SenderFault, senderFault } from './not-http.ts';
import { isSamePath } from './path.ts';
import { NO_PAYLOAD, type Payload, readPayload } from './payload.ts';
import { refusalReason } from './refusal-texts.ts';
import { checkSignature } from './signature.ts';

export interface ReceiverOptions {
  host: string;
  /** 0 picks any free port. */
  port: number;
  path: string;
  /**
   * Returns the secrets that may be valid (more than one during a rotation). Called with the envelope ID in the payload, which
   * isn't verified yet, and the payload's size.
   */
  secretsFor: (envelopeId: string | null, bytes: number) => Promise<readonly string[]>;
  verify: boolean;
  clock: Clock;
  /** The keys of deliveries accepted before this run. */
  seen?: Iterable<string>;
  /** Called for each delivery before the response. If it rejects, the response is 500, so that the sender retries. */
  onDelivery: (delivery: Delivery) => Promise<void> | void;
  /** Called with the reason for a response with 500. */
  onFailure: (error: unknown) => void;
  /** Called with the path of each request that was sent elsewhere. */
  onElsewhere: (path: string) => void;
  /** Called for each request at the webhook path that was refused before its body was read to the end. */
  onUnread: (status: UnreadStatus) => void;
  /** Called for each connection that was closed because there were too many. */
  onCrowded: () => void;
  /** Called for each connection that was closed because of what it sent: no HTTP, or no complete request. */
  onUnreadable: (fault: SenderFault) => void;
}

/** Another method; a body that is too large; too many large bodies at the same time. */
export type UnreadStatus = 405 | 413 | 503;

export interface Receiver {
  url: string;
  close(): Promise<void>;
}

/** The first two are time limits; the third is the interval at which they are checked. */
const TIME_LIMITS = { headersTimeout: 5_000, requestTimeout: 10_000, connectionsCheckingInterval: 1_000 };
const MAX_CONNECTIONS = 2_000;

/**
 * Starts a server that receives webhooks. The raw bytes are verified before anything else.
 * Responds with 200 if valid, 401 invalid signature, 403 from a web page (unverified only), 400 not JSON, 413 over 1 MiB, 405 other method,
 * 404 other path, 503 if too many bodies are open.
 */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const state = { bodies: new OpenBodies(), accepted: new AcceptedDeliveries(options.seen) };
  const server = createServer(TIME_LIMITS, (request, response) => {
    // Rejects if the sender disconnects during its request.
    void handle(request, response, options, state).catch(() => answer(response, 500));
  });
  limitConnections(server, MAX_CONNECTIONS, options.onCrowded);
  server.on('clientError', (error, socket) => {
    const fault = senderFault(error, socket);
    if (fault !== undefined) options.onUnreadable(fault);
    if (socket instanceof Socket) refuseConnection(socket, error);
    else socket.destroy();
  });
  const origin = await openPort(server, { ...options, flag: '--port', what: 'listen' });
  return {
    url: `${origin}${options.path}`,
    close: () => closeServer(server),
  };
}

/** Longer paths are truncated in reports. */
const MAX_PATH_LENGTH = 100;

interface State {
  bodies: OpenBodies;
  accepted: AcceptedDeliveries;
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  options: ReceiverOptions,
  { bodies, accepted }: State,
): Promise<void> {
  const [path = ''] = (request.url ?? '').split('?');
  if (!isSamePath(path, options.path)) {
    options.onElsewhere(path.slice(0, MAX_PATH_LENGTH));
    return answer(response, 404);
  }
  const refuse = (status: UnreadStatus) => {
    options.onUnread(status);
    answer(response, status);
  };
  if (request.method !== 'POST') return refuse(405);
  try {
    const status = await bodies.with(request, (raw) => acceptDelivery(raw, request, options, accepted));
    answer(response, status);
  } catch (error) {
    if (error instanceof BodyLimitError) return refuse(413);
    if (error instanceof BusyError) return refuse(503);
    throw error;
  }
}

/** Reports a delivery and returns the status of the response. */
async function acceptDelivery(
  raw: Buffer,
  request: IncomingMessage,
  options: ReceiverOptions,
  accepted: AcceptedDeliveries,
): Promise<number> {
  try {
    const delivery = await checkDelivery(raw, request, options);
    const store = async (duplicate: boolean) => options.onDelivery({ ...delivery, duplicate });
    // Only accepted deliveries are remembered. Otherwise, a forged copy would make the real one look like a repeat.
    if (isAccepted(delivery)) await accepted.store(delivery, store);
    else await store(false);
    return delivery.answer;
  } catch (error) {
    options.onFailure(error);
    return 500;
  }
}

async function checkDelivery(
  raw: Buffer,
  request: IncomingMessage,
  options: ReceiverOptions,
): Promise<Delivery> {
  const payload = readPayload(raw);
  const requestRefusal = options.verify
    ? await signatureRefusal(raw, request, options, payload ?? NO_PAYLOAD)
    : isFromWebPage(request.headers)
      ? FROM_WEB_PAGE
      : null;
  const refusal = requestRefusal ?? (payload === undefined ? notJson(compressionOf(raw, request)) : null);
  const delivery = {
    ...(payload ?? NO_PAYLOAD),
    deliveryId: newDeliveryId(),
    receivedAt: new Date(options.clock.now()).toISOString(),
    verified: options.verify && requestRefusal === null,
    duplicate: false,
    reason: refusal?.reason ?? null,
    answer: refusal?.answer ?? ACCEPTED,
    raw,
    bytes: raw.byteLength,
    headers: pairsOf(request.rawHeaders),
  };
  return refusal === null ? delivery : truncateRefusal(delivery);
}

interface RefusalResponse {
  answer: number;
  reason: string;
}
const FROM_WEB_PAGE: RefusalResponse = { answer: 403, reason: refusalReason('webPage') };

function notJson(compression: string | undefined): RefusalResponse {
  const reason =
    compression === undefined ? refusalReason('notJson') : refusalReason('compressedBody', compression);
  return { answer: 400, reason };
}

/** Returns how a body is compressed, by its header or, for gzip, by its first bytes (RFC 1952, section 2.3.1). */
function compressionOf(raw: Buffer, { headers }: IncomingMessage): string | undefined {
  const encoding = headers['content-encoding']?.trim().toLowerCase();
  if (encoding !== undefined && encoding !== '' && encoding !== 'identity') return encoding;
  return raw[0] === 0x1f && raw[1] === 0x8b ? 'gzip' : undefined;
}

/** Returns why the signature is not valid, or null if it is. */
async function signatureRefusal(
  raw: Buffer,
  request: IncomingMessage,
  options: ReceiverOptions,
  { envelopeId, body }: Payload,
): Promise<RefusalResponse | null> {
  const values = request.headersDistinct[SIGNATURE_HEADER.toLowerCase()];
  const secrets = await options.secretsFor(envelopeId, raw.byteLength);
  const check = checkSignature(raw, values, secrets);
  if (check.ok) return null;
  const compression = compressionOf(raw, request);
  if (check.failure !== 'mismatch') return { answer: 401, reason: check.reason };
  const reason =
    compression === undefined
      ? explainMismatch(raw, body, values?.[0] ?? '', secrets)
      : refusalReason('compressed', compression);
  return { answer: 401, reason };
}

function pairsOf(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, index): [string, string][] =>
    index % 2 === 0 ? [[name, raw[index + 1] ?? '']] : [],
  );
}

const WORDS: Readonly<Record<number, string>> = {
  [ACCEPTED]: 'ok',
  400: refusalReason('notJson'),
  401: 'invalid signature',
  403: 'browser requests are refused',
  404: 'not found',
  405: 'use POST',
  413: TOO_LARGE,
  500: 'not recorded; send it again',
  503: 'too many requests are open; send it again',
};

function answer(response: ServerResponse, status: number): void {
  if (response.headersSent) return;
  // Only senders of accepted deliveries keep their connection.
  const closes = status === ACCEPTED ? {} : { connection: 'close' };
  const allow = status === 405 ? { allow: 'POST' } : {};
  const retry = status === 503 ? { 'retry-after': '5' } : {};
  const text = `${WORDS[status] ?? ''}\n`;
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': text.length,
    ...closes,
    ...allow,
    ...retry,
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
