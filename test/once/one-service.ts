import { clientFor } from '../support/client.ts';
import { fakeClock } from '../support/clock.ts';
import { type SeenRequest, startServer, type TestServer } from '../support/server.ts';

export type ResponseOutcome = Parameters<typeof startServer>[0];

let server: TestServer | undefined;

/** Replaces the service of a test file. Returns a client without retries, so that every request is part of resolving the outcome. */
export async function serviceOf(answer: ResponseOutcome) {
  server = await startServer(answer);
  const clock = fakeClock();
  return { clock, client: clientFor(server.origin, { retries: 0, clock }) };
}

/** Returns the requests that the service has received. */
export function seen(): readonly SeenRequest[] {
  return server?.seen ?? [];
}
