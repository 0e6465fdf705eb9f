import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Clock } from '../kernel/clock.ts';
import { codeOf, messageOf } from '../kernel/errors.ts';

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

/** These are about one connection, not about the message (RFC 9110, 7.6.1). */
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
  ...['transfer-encoding', 'upgrade', 'host', 'content-length', 'expect'],
]);
const PAUSES_MS = [500, 2_000, 5_000, 15_000];

/**
 * Sends a delivery on once: the exact bytes and the original headers. Redirects are not followed.
 * node:http and not fetch, which changes headers and bytes.
 */
export function forwardOnce(
  delivery: Forwardable,
  url: string,
  options: { attempt: number; timeoutMs: number; clock: Clock },
): Promise<ForwardResult> {
  const target = new URL(url);
  const started = options.clock.now();
  const result = (status: number | null, error: string | null): ForwardResult => ({
    id: delivery.deliveryId,
    url: `${target.origin}${target.pathname}`,
    attempt: options.attempt,
    status,
    ms: options.clock.now() - started,
    error,
  });
  const kept = delivery.headers.filter(([name]) => !NOT_PASSED_ON.has(name.toLowerCase()));
  const headers = [
    ...kept,
    ['X-Esign-Delivery-Id', delivery.deliveryId],
    ['Host', target.host],
    ['Content-Length', String(delivery.raw.byteLength)],
  ];
  return new Promise((resolve) => {
    const send = target.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = send(
      target,
      { method: 'POST', headers: headers.flat(), timeout: options.timeoutMs, agent: false },
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

export interface ForwarderOptions {
  urls: readonly string[];
  timeoutMs: number;
  clock: Clock;
  onResult: (result: ForwardResult) => void;
}

/** Passes deliveries on behind the back of whoever sent them: tried again with pauses, in order for each envelope. */
export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #lines = new Map<string, Promise<void>>();
  readonly #stop = new AbortController();

  constructor(options: ForwarderOptions) {
    this.#options = options;
  }

  /** How many lines are not empty yet. */
  get pending(): number {
    return this.#lines.size;
  }

  /** Takes a delivery over and returns at once. */
  take(delivery: Forwardable): void {
    for (const url of this.#options.urls) {
      const line = `${url}\n${delivery.envelopeId ?? delivery.deliveryId}`;
      const before = this.#lines.get(line) ?? Promise.resolve();
      const after = before
        .then(() => this.#deliver(delivery, url))
        .finally(() => {
          if (this.#lines.get(line) === after) this.#lines.delete(line);
        });
      this.#lines.set(line, after);
    }
  }

  /** Waits for what is under way, at most so many ms; then gives up. */
  async drain(ms: number): Promise<void> {
    const all = Promise.allSettled([...this.#lines.values()]);
    await Promise.race([all, this.#options.clock.sleep(ms, this.#stop.signal).catch(() => undefined)]);
    this.#stop.abort(new Error('stopped'));
  }

  async #deliver(delivery: Forwardable, url: string): Promise<void> {
    const { clock, timeoutMs, onResult } = this.#options;
    for (let attempt = 1; !this.#stop.signal.aborted; attempt++) {
      const result = await forwardOnce(delivery, url, { attempt, timeoutMs, clock });
      onResult(result);
      const pause = PAUSES_MS[attempt - 1];
      if (result.error === null || pause === undefined) return;
      await clock.sleep(pause, this.#stop.signal).catch(() => undefined);
    }
  }
}
