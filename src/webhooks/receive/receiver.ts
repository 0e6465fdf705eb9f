import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Clock } from '../../kernel/clock.ts';
import { codeOf, UsageError } from '../../kernel/errors.ts';
import { explainMismatch } from './explain.ts';
import { type EventFacts, readPayload } from './payload.ts';
import { checkSignature } from './signature.ts';

export interface ReceiverOptions {
  host: string;
  /** 0 takes a free port. */
  port: number;
  path: string;
  /** Lower case. */
  signatureHeader: string;
  /**
   * Any of them may have signed (rotation). Handed the envelope id that the payload claims, which is not to be believed
   * yet. `others` only serve to explain a failure.
   */
  secretsFor: (
    envelopeId: string | null,
  ) => Promise<{ secrets: readonly string[]; others: readonly string[] }>;
  verify: boolean;
  clock: Clock;
  /** Ids that were received before this run. */
  seen?: Iterable<string>;
  /** Called for each delivery before it is answered; a rejection answers 500, so that the sender tries again. */
  onDelivery: (delivery: Delivery) => Promise<void> | void;
}

/** One request at the webhook path, good or bad. */
export interface Delivery {
  /** Names this delivery on this machine. */
  deliveryId: string;
  id: string;
  receivedAt: string;
  facts: EventFacts | null;
  verified: boolean;
  /** Seen before in this run, by its id. */
  duplicate: boolean;
  /** Why it was refused, or null. */
  reason: string | null;
  /** What the sender was told. */
  answer: number;
  raw: Buffer;
  /** As they came, in order. */
  headers: [string, string][];
  body: Record<string, unknown> | null;
}

export interface Receiver {
  url: string;
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 1024 * 1024;
/** The first two are looked after as often as the third says. */
const TIME_LIMITS = { headersTimeout: 5_000, requestTimeout: 10_000, connectionsCheckingInterval: 1_000 };
/** Enough to recognise repeats of a day, without growing for ever. */
const REMEMBERED_IDS = 100_000;

/**
 * Receives webhooks: raw bytes, verified before anything else is believed.
 * 200 good, 401 bad signature, 400 not JSON, 413 over 1 MiB, 405 other method, 404 other path.
 */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const seen = new Set<string>(options.seen);
  const server = createServer(TIME_LIMITS, (request, response) => {
    void handle(request, response, options, seen).catch(() => answer(response, 500));
  });
  server.maxConnections = 2_000;
  await listen(server, options);
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : options.port;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  return {
    url: `http://${host}:${port}${options.path}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, options: ReceiverOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const taken = codeOf(error) === 'EADDRINUSE';
      const why = taken ? 'the port is taken' : error.message;
      reject(
        new UsageError(`Can't listen on ${options.host}:${options.port}: ${why}.`, {
          cause: error,
          hint: taken ? 'Give another one with --port, or --port 0 for any free one.' : undefined,
        }),
      );
    });
    server.listen(options.port, options.host, resolve);
  });
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  options: ReceiverOptions,
  seen: Set<string>,
): Promise<void> {
  // The parser takes any digits for a version.
  if (!/^1\.[01]$/.test(request.httpVersion)) return answer(response, 505);
  const path = (request.url ?? '').split('?')[0];
  if (path !== options.path) return answer(response, 404);
  if (request.method !== 'POST') return answer(response, 405);
  const raw = await readBody(request);
  if (raw === undefined) return answer(response, 413);
  const delivery = await judge(raw, request, options, seen);
  await options.onDelivery(delivery);
  answer(response, delivery.answer);
}

async function judge(
  raw: Buffer,
  request: IncomingMessage,
  options: ReceiverOptions,
  seen: Set<string>,
): Promise<Delivery> {
  const payload = readPayload(raw);
  const check = options.verify
    ? await checked(raw, request, options, payload?.facts.envelopeId ?? null)
    : undefined;
  const refused = check ?? (payload === undefined ? 'the body is not JSON' : null);
  const id = payload?.facts.id ?? '';
  // Only what is accepted is remembered: a forged copy must not make the real one look like a repeat.
  const duplicate = refused === null && seen.has(id);
  if (refused === null) remember(seen, id);
  return {
    deliveryId: `dlv_${randomBytes(9).toString('hex')}`,
    id,
    receivedAt: new Date(options.clock.now()).toISOString(),
    facts: payload?.facts ?? null,
    verified: check === null,
    duplicate,
    reason: refused,
    answer: typeof check === 'string' ? 401 : payload === undefined ? 400 : 200,
    raw,
    headers: pairsOf(request.rawHeaders),
    body: payload?.body ?? null,
  };
}

/** Null when the signature is good, else why it is not. */
async function checked(
  raw: Buffer,
  request: IncomingMessage,
  options: ReceiverOptions,
  envelopeId: string | null,
): Promise<string | null> {
  const values = request.headersDistinct[options.signatureHeader];
  const known = await options.secretsFor(envelopeId);
  const check = checkSignature(raw, values, known.secrets);
  if (check.ok) return null;
  return check.failure === 'mismatch' ? explainMismatch(raw, values?.[0] ?? '', known) : check.reason;
}

function pairsOf(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, index): [string, string][] =>
    index % 2 === 0 ? [[name, raw[index + 1] ?? '']] : [],
  );
}

function remember(seen: Set<string>, id: string): void {
  seen.add(id);
  if (seen.size <= REMEMBERED_IDS) return;
  for (const oldest of seen) {
    seen.delete(oldest);
    return;
  }
}

/** The raw bytes, or undefined when there are more than 1 MiB of them. By events: iterating costs as much as all the rest. */
function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.byteLength;
      if (size <= MAX_BODY_BYTES) chunks.push(chunk);
      else {
        request.pause();
        resolve(undefined);
      }
    });
    request.on('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
    request.on('error', reject);
  });
}

const WORDS: Readonly<Record<number, string>> = {
  200: 'ok',
  400: 'the body is not JSON',
  401: 'signature refused',
  404: 'not found',
  405: 'use POST',
  413: 'the body is larger than 1 MiB',
  500: 'not recorded; send it again',
  505: 'use HTTP/1.1',
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
