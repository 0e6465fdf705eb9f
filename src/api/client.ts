import type { Clock } from '../kernel/clock.ts';
import { type EnvelopesApi, envelopesApi } from './envelopes.ts';
import { createHttp, type HttpOptions, type SendRequest } from './http.ts';
import { type RetryOptions, withRetries } from './retry.ts';
import { type TemplatesApi, templatesApi } from './templates.ts';

export interface ClientOptions extends HttpOptions {
  random?: (() => number) | undefined;
  retries?: number | undefined;
  maxWaitMs?: number | undefined;
  onWait?: RetryOptions['onWait'];
}

/** The service, as its document describes it: eight routes, typed. */
export interface Client {
  templates: TemplatesApi;
  envelopes: EnvelopesApi;
  /** Any request, with the retry policy. */
  send: SendRequest;
  clock: Clock;
}

/** A client for one key at one base URL. */
export function createClient(options: ClientOptions): Client {
  const send = withRetries(createHttp(options), {
    clock: options.clock,
    random: options.random ?? Math.random,
    retries: options.retries ?? 4,
    maxWaitMs: options.maxWaitMs ?? 60_000,
    onWait: options.onWait,
  });
  return { templates: templatesApi(send), envelopes: envelopesApi(send), send, clock: options.clock };
}
