import { createServer, type IncomingHttpHeaders } from 'node:http';
import { onTestFinished } from 'vitest';
import * as z from 'zod';
import { portOf } from '../support/server.ts';

export interface Received {
  headers: IncomingHttpHeaders;
  raw: string;
  event: string;
  body: { event: string; timestamp: string; data: Record<string, unknown> };
}

const payloadShape = z.strictObject({
  event: z.string(),
  timestamp: z.iso.datetime(),
  data: z.record(z.string(), z.unknown()),
});

/** The other payload shape, converted to the first; `raw` has the original. */
const typedShape = z
  .strictObject({
    id: z.string().regex(/^evt_\w+$/),
    type: z.string(),
    createdAt: z.iso.datetime(),
    data: z.record(z.string(), z.unknown()),
  })
  .transform(({ type, createdAt, data }) => ({ event: type, timestamp: createdAt, data }));
const anyShape = z.union([payloadShape, typedShape]);

/** A real receiver: responds with `answer(n)` to its n-th request (from 1), or not at all for null. */
export async function startReceiver(answer: (nth: number, event: string) => number | null = () => 200) {
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const raw = Buffer.concat(chunks).toString();
      const body = anyShape.parse(JSON.parse(raw));
      received.push({ headers: incoming.headers, raw, event: body.event, body });
      for (const check of waiting) check();
      const status = answer(received.length, body.event);
      if (status !== null) outgoing.writeHead(status, { location: '/elsewhere' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const port = portOf(server);
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    received,
    events: () => received.map((one) => one.event),
    /** Resolves once `count` requests have arrived. */
    count: (count: number) =>
      new Promise<void>((resolve) => {
        const check = () => {
          if (received.length < count) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
  };
}
