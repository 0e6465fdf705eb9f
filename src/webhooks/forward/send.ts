import { type ClientRequest, Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Clock } from '../../kernel/clock.ts';
import { codeOf, messageOf } from '../../kernel/errors.ts';
import { basicCredentials } from '../../kernel/network/proxy.ts';
import { wordList } from '../../kernel/text/word-list.ts';
import type { Delivery } from '../receive/delivery.ts';

/** A delivery to forward, with its exact bytes and original headers. */
export type Forwardable = Pick<Delivery, 'deliveryId' | 'event' | 'envelopeId' | 'headers' | 'raw'>;

/** One attempt to forward a delivery. */
export interface ForwardResult {
  id: string;
  event: string | null;
  envelopeId: string | null;
  url: string;
  attempt: number;
  status: number | null;
  ms: number;
  /** Null if the delivery was accepted. */
  error: string | null;
  /** The delay before the next attempt, in ms, or null for no further attempt. */
  nextMs: number | null;
}

/** Keeps connections open for a moment. Servers keep them longer, so that they seldom close one that is used again at the same time. */
const KEEP_ALIVE = { keepAlive: true, timeout: 1_000 };
const HTTP = { request: httpRequest, agent: new HttpAgent(KEEP_ALIVE) };
const HTTPS = { request: httpsRequest, agent: new HttpsAgent(KEEP_ALIVE) };
const DELIVERY_ID = 'X-Esign-Delivery-Id';

/** Headers that aren't forwarded: those of the connection rather than the message (RFC 9110, 7.6.1), and those set here. */
export const HEADERS_NOT_FORWARDED = new Set([
  ...wordList(`connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer
    transfer-encoding upgrade host content-length expect`),
  DELIVERY_ID.toLowerCase(),
]);

/** Returns an address without the parts that may be secret: credentials and query. */
export function shownUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

/** Returns the result of an attempt that isn't followed by another one. */
export function forwardResultOf(
  { deliveryId: id, event, envelopeId }: Pick<Forwardable, 'deliveryId' | 'event' | 'envelopeId'>,
  url: string,
  outcome: Pick<ForwardResult, 'attempt' | 'status' | 'ms' | 'error'>,
): ForwardResult {
  return { id, event, envelopeId, url: shownUrl(url), ...outcome, nextMs: null };
}

/** Forwards a delivery once, with its exact bytes and original headers. Redirects are not followed. */
export async function forwardOnce(
  delivery: Forwardable,
  url: string,
  options: { attempt: number } & Parameters<typeof postOnce>[1],
): Promise<ForwardResult> {
  const { attempt } = options;
  const kept = delivery.headers.filter(([name]) => !HEADERS_NOT_FORWARDED.has(name.toLowerCase()));
  const headers = [...kept, [DELIVERY_ID, delivery.deliveryId] as const];
  const { status, ms, error } = await postOnce({ url, headers, raw: delivery.raw }, options);
  const refusal = status === null || isSuccess(status) ? null : `responded with ${status}`;
  return forwardResultOf(delivery, url, { attempt, status, ms, error: error ?? refusal });
}

/** Returns true for the status with which a receiver accepts a delivery. */
export function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** Adds the host and, because node:http ignores them if headers are a list, the credentials in the URL. */
function withCredentials(
  headers: readonly (readonly [string, string])[],
  target: URL,
): (readonly [string, string])[] {
  const host = ['Host', target.host] as const;
  const credentials = basicCredentials(target);
  if (credentials === undefined) return [...headers, host];
  const others = headers.filter(([name]) => name.toLowerCase() !== 'authorization');
  return [...others, host, ['Authorization', credentials]];
}

/** The outcome of a request: a status or an error. */
export interface ResponseOutcome {
  status: number | null;
  ms: number;
  /** The system's error code, such as ECONNREFUSED, or the message of an error without a code. */
  error: string | null;
}

/**
 * Posts bytes with the given headers and waits for the complete response, in total for at most `timeoutMs`. The rest of a longer
 * response is discarded. Uses node:http because fetch changes headers and bytes.
 */
export function postOnce(
  message: { url: string; headers: readonly (readonly [string, string])[]; raw: Buffer },
  options: {
    timeoutMs: number;
    clock: Clock;
    signal?: AbortSignal | undefined;
    /** Writes the body and ends the request, on a separate connection. By default, the whole body is written immediately. */
    write?: ((request: ClientRequest) => void) | undefined;
  },
): Promise<ResponseOutcome> {
  const { url, headers, raw } = message;
  const { timeoutMs, clock, signal, write } = options;
  const target = new URL(url);
  const started = clock.now();
  const all = [...withCredentials(headers, target), ['Content-Length', String(raw.byteLength)]];
  return new Promise((resolve) => {
    let status: number | null = null;
    const end = (error: string | null) => {
      clearTimeout(timer);
      resolve({ status, ms: clock.now() - started, error });
    };
    const { request: send, agent } = target.protocol === 'https:' ? HTTPS : HTTP;
    const request = send(
      target,
      { method: 'POST', headers: all.flat(), agent: write ? false : agent, signal },
      (response) => {
        status = response.statusCode ?? 0;
        response.resume();
        response.on('end', () => end(null));
        response.on('error', (error) => end(error.message));
      },
    );
    request.on('error', (error) => {
      const code = codeOf(error);
      // At the same time, the server closed the connection, which was kept open.
      if (request.reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE'))
        resolve(postOnce(message, options));
      end(code ?? messageOf(error));
    });
    const timer = setTimeout(() => {
      if (status !== null) end(null);
      request.destroy(new Error(`no response within ${timeoutMs / 1_000} s`));
    }, timeoutMs);
    if (write === undefined) request.end(raw);
    else write(request);
  });
}
