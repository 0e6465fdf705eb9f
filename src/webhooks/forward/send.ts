import { type ClientRequest, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Clock } from '../../kernel/clock.ts';
import { codeOf, messageOf } from '../../kernel/errors.ts';
import type { EventRecord } from '../journal/record.ts';

/** What is passed on: the very bytes, and the headers as they came. */
export interface Forwardable {
  deliveryId: string;
  event: string | null;
  envelopeId: string | null;
  headers: readonly (readonly [string, string])[];
  raw: Buffer;
}

/** One try to pass a delivery on. */
export interface ForwardResult {
  id: string;
  event: string | null;
  envelopeId: string | null;
  url: string;
  attempt: number;
  status: number | null;
  ms: number;
  /** Null when it was taken. */
  error: string | null;
  /** When it is tried again, in ms; null when it is not. */
  nextMs: number | null;
  /** How many of its envelope wait behind it for this address. */
  waiting: number;
}

const DELIVERY_ID = 'X-Esign-Delivery-Id';

/** These are about one connection and not about the message (RFC 9110, 7.6.1), or ours to say. */
export const NOT_PASSED_ON = new Set([
  ...[
    'connection',
    'keep-alive',
    'proxy-authenticate',
    'proxy-authorization',
    'proxy-connection',
    'te',
    'trailer',
  ],
  ...['transfer-encoding', 'upgrade', 'host', 'content-length', 'expect', DELIVERY_ID.toLowerCase()],
]);

/** An address without what may be secret in it: user and query. */
export function shownUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

/** A record of the journal as it is passed on. Of a refused delivery it is only the beginning. */
export function storedDelivery(record: EventRecord): Forwardable {
  const { deliveryId, event, envelopeId, headers, bodyBase64 } = record;
  return { deliveryId, event, envelopeId, headers, raw: Buffer.from(bodyBase64, 'base64') };
}

/** What came of one try, after which there is no other. */
export function resultOf(
  { deliveryId: id, event, envelopeId }: Forwardable,
  url: string,
  outcome: Pick<ForwardResult, 'attempt' | 'status' | 'ms' | 'error'>,
): ForwardResult {
  return { id, event, envelopeId, url: shownUrl(url), ...outcome, nextMs: null, waiting: 0 };
}

/**
 * Sends a delivery on once: the exact bytes and the original headers. Redirects are not followed.
 */
export async function forwardOnce(
  delivery: Forwardable,
  url: string,
  options: { attempt: number; timeoutMs: number; clock: Clock; signal?: AbortSignal | undefined },
): Promise<ForwardResult> {
  const { attempt } = options;
  const kept = delivery.headers.filter(([name]) => !NOT_PASSED_ON.has(name.toLowerCase()));
  const headers = [...kept, [DELIVERY_ID, delivery.deliveryId] as const];
  const { status, ms, error } = await postOnce({ url, headers, raw: delivery.raw }, options);
  const refusal = status === null || status < 300 ? null : `answered ${status}`;
  return resultOf(delivery, url, { attempt, status, ms, error: error ?? refusal });
}

/** What came of a request: a status, or why there is none. */
export interface Answer {
  status: number | null;
  ms: number;
  /** A code of the system where there is one, such as ECONNREFUSED. */
  error: string | null;
}

/**
 * Posts bytes with these headers, and waits for the whole answer.
 * node:http and not fetch, which changes headers and bytes.
 */
export function postOnce(
  { url, headers, raw }: { url: string; headers: readonly (readonly [string, string])[]; raw: Buffer },
  options: {
    timeoutMs: number;
    clock: Clock;
    signal?: AbortSignal | undefined;
    /** Writes the body and ends the request; at once and as a whole when left out. */
    write?: ((request: ClientRequest) => void) | undefined;
  },
): Promise<Answer> {
  const { timeoutMs, clock, signal, write } = options;
  const target = new URL(url);
  const started = clock.now();
  const answer = (status: number | null, error: string | null): Answer => {
    return { status, ms: clock.now() - started, error };
  };
  const all = [...headers, ['Host', target.host], ['Content-Length', String(raw.byteLength)]];
  return new Promise((resolve) => {
    const send = target.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = send(
      target,
      { method: 'POST', headers: all.flat(), timeout: timeoutMs, agent: false, signal },
      (response) => {
        response.resume();
        const status = response.statusCode ?? 0;
        response.on('end', () => resolve(answer(status, null)));
        response.on('error', (error) => resolve(answer(status, error.message)));
      },
    );
    request.on('timeout', () => request.destroy(new Error(`no answer within ${timeoutMs / 1_000} s`)));
    request.on('error', (error) => resolve(answer(null, codeOf(error) ?? messageOf(error))));
    if (write === undefined) request.end(raw);
    else write(request);
  });
}
