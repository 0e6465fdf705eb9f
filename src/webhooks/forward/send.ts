import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Clock } from '../../kernel/clock.ts';
import { codeOf, messageOf } from '../../kernel/errors.ts';

/** What is passed on: the very bytes, and the headers as they came. */
export interface Forwardable {
  deliveryId: string;
  envelopeId: string | null;
  headers: readonly (readonly [string, string])[];
  raw: Buffer;
}

/** One try to pass a delivery on. */
export interface ForwardResult {
  id: string;
  url: string;
  attempt: number;
  status: number | null;
  ms: number;
  error: string | null;
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

/**
 * Sends a delivery on once: the exact bytes and the original headers. Redirects are not followed.
 * node:http and not fetch, which changes headers and bytes.
 */
export function forwardOnce(
  delivery: Forwardable,
  url: string,
  options: { attempt: number; timeoutMs: number; clock: Clock; signal?: AbortSignal | undefined },
): Promise<ForwardResult> {
  const target = new URL(url);
  const started = options.clock.now();
  const result = (status: number | null, error: string | null): ForwardResult => ({
    id: delivery.deliveryId,
    url: shownUrl(url),
    attempt: options.attempt,
    status,
    ms: options.clock.now() - started,
    error,
  });
  const kept = delivery.headers.filter(([name]) => !NOT_PASSED_ON.has(name.toLowerCase()));
  const headers = [
    ...kept,
    [DELIVERY_ID, delivery.deliveryId],
    ['Host', target.host],
    ['Content-Length', String(delivery.raw.byteLength)],
  ];
  return new Promise((resolve) => {
    const send = target.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = send(
      target,
      {
        method: 'POST',
        headers: headers.flat(),
        timeout: options.timeoutMs,
        agent: false,
        signal: options.signal,
      },
      (response) => {
        response.resume();
        const status = response.statusCode ?? 0;
        response.on('end', () => resolve(result(status, status < 300 ? null : `answered ${status}`)));
        response.on('error', (error) => resolve(result(status, error.message)));
      },
    );
    request.on('timeout', () =>
      request.destroy(new Error(`no answer within ${options.timeoutMs / 1_000} s`)),
    );
    request.on('error', (error) => resolve(result(null, codeOf(error) ?? messageOf(error))));
    request.end(delivery.raw);
  });
}
