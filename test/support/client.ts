import { type Client, type ClientOptions, createClient } from '../../src/api/client.ts';
import { createAgent, type HttpAgent } from '../../src/api/connection/undici.ts';
import { parseJson } from '../../src/kernel/json.ts';
import { fakeClock } from './clock.ts';
import type { ServiceRequest, ServiceResponse } from './faulty-service.ts';

/** A client for a test server: no real waiting, and a timeout that only a test which waits for one shortens. */
export function clientFor(origin: string, options: Partial<ClientOptions> = {}): Client {
  return createClient({
    baseUrl: `${origin}/api/v1`,
    apiKey: 'sk_test_0123456789',
    timeoutMs: 30_000,
    userAgent: 'esign-test',
    clock: fakeClock(),
    random: () => 0.5,
    ...options,
  });
}

/** Connections to a service in memory, for tests of thousands of requests. Without an answer, the response is lost. */
export function inMemory(
  answer: (request: ServiceRequest) => ServiceResponse | Promise<ServiceResponse | undefined>,
): HttpAgent {
  const request = async (asked: Asked) => {
    const { pathname: path, searchParams: query } = new URL(asked.path, 'http://x');
    const body = asked.body === undefined ? undefined : parseJson(asked.body);
    const reply = await answer({ method: asked.method, path, query, body });
    if (asked.signal?.aborted) throw asked.signal.reason;
    if (reply === undefined) throw Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' });
    const text = reply.body === undefined ? '' : JSON.stringify(reply.body);
    return { statusCode: reply.status, headers: reply.headers, body: [Buffer.from(text)] };
  };
  return Object.assign(createAgent({}), { request });
}

interface Asked {
  method: string;
  path: string;
  body?: string;
  signal?: AbortSignal;
}
