import { createConnections } from './dispatcher.ts';

const TIMEOUT_MS = 5_000;

/**
 * Returns a function that asks a service for its time, without a key. It reads the Date header of any response and returns
 * undefined if it is missing.
 */
export function createServiceTimeReader(
  baseUrl: string,
): (signal: AbortSignal) => Promise<number | undefined> {
  const { origin, pathname: path } = new URL(baseUrl);
  const { dispatcher } = createConnections(new URL(baseUrl), TIMEOUT_MS);
  return async (signal) => {
    const { headers, body } = await dispatcher.request({ origin, path, method: 'HEAD', signal });
    await body.dump();
    const time = typeof headers.date === 'string' ? Date.parse(headers.date) : Number.NaN;
    return Number.isNaN(time) ? undefined : time;
  };
}
