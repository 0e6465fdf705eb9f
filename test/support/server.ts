import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { closeAtEnd } from './opened.ts';

export interface SeenRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  body: string;
}

export interface TestServer {
  origin: string;
  seen: SeenRequest[];
  close(): Promise<void>;
}

/** A real server on loopback that records each request and responds as the test specifies. It is closed at the end of the file. */
export async function startServer(
  answer: (request: SeenRequest, response: ServerResponse, number: number) => void | Promise<void>,
): Promise<TestServer> {
  const seen: SeenRequest[] = [];
  const server = createServer((incoming, response) => {
    // A test sets the time; the machine's would differ from its clock.
    response.sendDate = false;
    void (async () => {
      const url = new URL(incoming.url ?? '/', 'http://x');
      const body = await text(incoming);
      const request = {
        method: incoming.method ?? '',
        path: url.pathname,
        query: url.searchParams,
        headers: incoming.headers,
        body,
      };
      seen.push(request);
      await answer(request, response, seen.length);
    })();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const port = portOf(server);
  return closeAtEnd({
    origin: `http://127.0.0.1:${port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}

/** The port of a server on the network that is listening. */
export function portOf(server: { address(): AddressInfo | string | null }): number {
  const address = server.address();
  if (typeof address !== 'object' || address === null)
    throw new Error('The server is not listening on a port.');
  return address.port;
}

/** Responds with JSON. */
export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** Reads the request and closes the connection without a response: the response is lost. */
export function loseReply(response: ServerResponse): void {
  response.destroy();
}
