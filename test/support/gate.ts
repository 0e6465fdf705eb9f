import { createServer } from 'node:http';
import { forward } from './faulty-proxy.ts';
import { portOf } from './server.ts';

/** What happens to a request: it never gets through, or its answer never gets back. Whoever waits for it waits on. */
type Held = 'request' | 'answer';

/** A way to a service on which one request is held up when it is reached. */
export interface Gate {
  origin: string;
  /** Holds up the request with this number, counted from now on; resolves once it is. */
  hold(number: number, what: Held): Promise<void>;
  /** Lets everything through. */
  open(): void;
  /** How many requests came since the last `hold` or `open`. */
  count(): number;
  close(): Promise<void>;
}

/** A gate before a service on this machine. */
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
