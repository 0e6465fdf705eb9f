import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { portOf } from './server.ts';

/** The outcome of a request: it never arrives, or its response never returns. The client keeps waiting. */
type Held = 'request' | 'answer';

/** A proxy for a service that holds up one chosen request. */
export interface Gate {
  origin: string;
  /** Holds up the request with this number, counted from now; resolves once it is held. */
  hold(number: number, what: Held): Promise<void>;
  /** Lets everything through. */
  open(): void;
  /** The number of requests since the last `hold` or `open`. */
  count(): number;
  close(): Promise<void>;
}

/** Starts a gate in front of a local service. */
export async function startGate(target: string): Promise<Gate> {
  let count = 0;
  let held: { number: number; what: Held; reached: () => void } | undefined;
  const server = createServer((request, response) => {
    void (async () => {
      const isHeld = ++count === held?.number ? held : undefined;
      if (isHeld?.what === 'request') return isHeld.reached();
      const reply = await forward(request, target);
      if (isHeld) return isHeld.reached();
      response.writeHead(reply.status, reply.headers).end(reply.body);
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const port = portOf(server);
  return {
    origin: `http://127.0.0.1:${port}`,
    hold: (number, what) =>
      new Promise((reached) => {
        count = 0;
        held = { number, what, reached };
      }),
    open() {
      count = 0;
      held = undefined;
    },
    count: () => count,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Forwards a request to the service. */
async function forward(request: IncomingMessage, target: string) {
  const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers;
  const body = await buffer(request);
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD' && body.length > 0;
  const reply = await fetch(`${target}${request.url ?? ''}`, {
    method: request.method ?? 'GET',
    headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
    ...(hasBody ? { body } : {}),
  });
  const kept = [...reply.headers].filter(
    ([name]) => !/^(content-length|transfer-encoding|connection|keep-alive)$/.test(name),
  );
  return {
    status: reply.status,
    headers: Object.fromEntries(kept),
    body: Buffer.from(await reply.arrayBuffer()),
  };
}
