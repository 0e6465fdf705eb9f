import { type Client, type ClientOptions, createClient } from '../../src/api/client.ts';
import { fakeClock } from './clock.ts';

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
