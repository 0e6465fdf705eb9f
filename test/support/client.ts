import { type Client, type ClientOptions, createClient } from '../../src/api/client.ts';
import { createAgent } from '../../src/api/connection/undici.ts';
import { fakeClock } from './clock.ts';
import type { ServiceResponse } from './faulty-service.ts';

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

/** A request to a service in memory, and its parameters. */
export interface MemoryRequest {
  path: string;
  query: URLSearchParams;
}

/** A client of a service in memory, which takes a tenth of the time of sockets: for tests of thousands of requests. */
export function clientInMemory(answer: (request: MemoryRequest) => ServiceResponse): Client {
  const request = (asked: { path: string }) => {
    const { pathname: path, searchParams: query } = new URL(asked.path, 'http://x');
    const { status, body, headers } = answer({ path, query });
    return Promise.resolve({ statusCode: status, headers, body: [Buffer.from(JSON.stringify(body))] });
  };
  return clientFor('http://127.0.0.1', { dispatcher: Object.assign(createAgent({}), { request }) });
}
