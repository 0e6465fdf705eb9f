import { startDeadline } from '../kernel/async/deadline.ts';
import { abortReason, type Clock } from '../kernel/clock.ts';
import { EsignError, UsageError } from '../kernel/errors.ts';
import { exactJsonText } from '../kernel/text/exact-json.ts';
import { type Connections, createConnections } from './connection/dispatcher.ts';
import { networkError } from './connection/network-error.ts';
import type { HttpAgent } from './connection/undici.ts';
import { type RateLimit, readRateLimit } from './rate-headers.ts';
import type { RateWindow } from './rate-window.ts';
import { type HttpResponse, interpret, type RawResponse, readText } from './response.ts';
import type { ServiceClock } from './service-clock.ts';
import type { WriteIdentity } from './write-identity.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface HttpRequest {
  method: Method;
  /** Relative to the base URL, starting with a slash. Ids in it are already encoded. */
  path: string;
  /** Added to the query of the path. */
  query?: Readonly<Record<string, string>>;
  body?: unknown;
  /** JSON text to send as is, instead of `body`. */
  bodyText?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Whether to replace JSON that is nested too deeply by null, instead of failing. For lists, in which one item must not hide the others. */
  cutsDeep?: boolean | undefined;
  /** What may happen only once, for the gate of writes. */
  once?: WriteIdentity | undefined;
  /** A hash of the content of a create, which the log keeps. Other creates may have the same. */
  content?: string | undefined;
  /** Called before each attempt, after the wait for the rate limit. Nothing is sent if it fails. */
  beforeAttempt?: (() => Promise<void>) | undefined;
  /** Called before anything is sent; not if the request is aborted while it waits for the rate limit. */
  onSend?: (() => void) | undefined;
  /** Called when an attempt certainly did nothing, and the next one waits. */
  onNothingDone?: (() => void) | undefined;
  /** Called for every response, including refusals. */
  onResponse?: ((response: RawResponse) => void) | undefined;
}

/** What the log is called about a write. */
export type WriteHooks = Pick<HttpRequest, 'beforeAttempt' | 'onSend' | 'onNothingDone'>;

/** A request and its outcome, for --debug. The receiver redacts it. */
export interface TraceEntry {
  method: Method;
  url: string;
  status: number | undefined;
  ms: number;
  rate: RateLimit | undefined;
  requestBody: string | undefined;
  responseBody: string | undefined;
  error: string | undefined;
}

export interface HttpOptions {
  /** Normalized: see base-url.ts. */
  baseUrl: string;
  apiKey: string;
  /** Time limit for connecting, for the first byte, and for the whole response, each in ms. */
  timeoutMs: number;
  userAgent: string;
  clock: Clock;
  dispatcher?: HttpAgent | undefined;
  /** Updated with the time of every response. */
  serviceClock?: ServiceClock | undefined;
  trace?: ((entry: TraceEntry) => void) | undefined;
  /** Called for each request; `reads` is true if the request changes nothing. The returned function is called when the request is over. */
  onRequest?: ((reads: boolean) => () => void) | undefined;
  /** How long to wait for the response to a write after its signal has aborted, in ms (default: not at all). */
  graceMs?: number | undefined;
  /** Refuses every request that is not a GET before it is sent. */
  readsOnly?: boolean | undefined;
  /** Delays requests that would exceed the rate limit. */
  window?: RateWindow | undefined;
}

export type SendRequest = (request: HttpRequest) => Promise<HttpResponse>;

/**
 * Returns a function that sends one request once, without retries. No other code sends HTTP requests to the service. The
 * function rejects with ServiceError (the API's error shape), NetworkError (no complete response), or BadResponseError (a
 * response that is not the API's). Redirects are never followed, because the key would be sent along.
 */
export function createHttp(options: HttpOptions): SendRequest {
  const connections =
    options.dispatcher === undefined
      ? createConnections(new URL(options.baseUrl), options.timeoutMs)
      : { dispatcher: options.dispatcher, proxy: undefined };
  return async (request) => {
    const url = addressOf(options.baseUrl, request);
    if (options.readsOnly && request.method !== 'GET')
      throw new UsageError(`This command is read-only, so ${request.method} ${request.path} was not sent.`, {
        hint: 'This is a bug. Report it with the output of --debug.',
      });
    await options.window?.acquire(request.signal);
    const requestBody = request.body === undefined ? request.bodyText : exactJsonText(request.body);
    const started = options.clock.now();
    const entry: TraceEntry = {
      method: request.method,
      url,
      status: undefined,
      ms: 0,
      rate: undefined,
      requestBody,
      responseBody: undefined,
      error: undefined,
    };
    let over: (() => void) | undefined;
    try {
      await request.beforeAttempt?.();
      over = options.onRequest?.(isRead(request.method));
      const raw = await exchange(url, request, requestBody, options, connections);
      entry.status = raw.status;
      entry.responseBody = raw.text;
      entry.rate = readRateLimit(raw.headers, options.clock.now());
      request.onResponse?.(raw);
      return interpret(raw, entry.rate, { url, cutsDeep: request.cutsDeep });
    } catch (error) {
      entry.error = error instanceof Error ? error.message : String(error);
      throw error;
    } finally {
      over?.();
      entry.ms = options.clock.now() - started;
      options.window?.observe(entry.rate, entry.status === 429);
      options.trace?.(entry);
    }
  };
}

async function exchange(
  url: string,
  request: HttpRequest,
  body: string | undefined,
  options: HttpOptions,
  { dispatcher, proxy }: Connections,
): Promise<RawResponse> {
  const { signal } = request;
  if (signal?.aborted) throw abortReason(signal);
  const graceMs = isRead(request.method) ? 0 : (options.graceMs ?? 0);
  request.onSend?.();
  const deadline = startDeadline(signal, { ms: options.timeoutMs, graceMs });
  try {
    const { origin, pathname, search } = new URL(url);
    const response = await dispatcher.request({
      origin,
      path: `${pathname}${search}`,
      method: request.method,
      signal: deadline.signal,
      headers: {
        authorization: `Bearer ${options.apiKey}`,
        accept: 'application/json',
        'user-agent': options.userAgent,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body }),
    });
    options.serviceClock?.update(response.headers);
    return {
      status: response.statusCode,
      headers: response.headers,
      text: await readText(response),
    };
  } catch (error) {
    if (signal?.aborted && graceMs === 0) throw abortReason(signal);
    if (error instanceof EsignError) throw error;
    const timedOut = deadline.signal.aborted;
    throw networkError(error, {
      url,
      timeoutMs: options.timeoutMs,
      timedOut,
      stopped: timedOut && signal?.aborted,
      proxy,
    });
  } finally {
    deadline.end();
  }
}

/** Returns true for methods that change nothing. */
export function isRead(method: Method): boolean {
  return method === 'GET';
}

function addressOf(baseUrl: string, request: HttpRequest): string {
  const query = request.query ? new URLSearchParams(request.query).toString() : '';
  return query === ''
    ? `${baseUrl}${request.path}`
    : `${baseUrl}${request.path}${request.path.includes('?') ? '&' : '?'}${query}`;
}
