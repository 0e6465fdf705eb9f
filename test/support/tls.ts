import { once } from 'node:events';
import { connect } from 'node:net';
import { createServer } from 'node:tls';
import type { Certified } from './certificates.ts';
import { closeAtEnd } from './opened.ts';
import { portOf } from './server.ts';

export interface TlsFront {
  /** https:// and the port. */
  origin: string;
  port: number;
  /** Connections so far. */
  connections: number;
  close(): void;
}

export interface TlsFrontOptions {
  /** How many bytes of the responses a connection, counted from 1, forwards before it breaks; all if undefined. */
  breaksAfter?: (connection: number) => number | undefined;
  /** Whether the response to these bytes of a request is held back, and its connection broken. */
  breaksOn?: (request: string) => boolean;
}

/** TLS in front of a plain server on loopback, which gets the same bytes. */
export async function startTlsFront(
  certified: Certified,
  plainPort: number,
  options: TlsFrontOptions = {},
): Promise<TlsFront> {
  const server = createServer(certified, (socket) => {
    let left = options.breaksAfter?.(++front.connections) ?? Number.POSITIVE_INFINITY;
    const onward = connect(plainPort, '127.0.0.1');
    socket.on('data', (chunk: Buffer) => {
      if (options.breaksOn?.(chunk.toString('latin1'))) left = 0;
    });
    socket.on('error', () => onward.destroy()).pipe(onward);
    onward.on('error', () => socket.destroy()).on('end', () => socket.end());
    onward.on('data', (chunk: Buffer) => {
      if (left > 0) socket.write(chunk.subarray(0, left));
      left -= chunk.length;
      if (left > 0) return;
      onward.destroy();
      socket.destroySoon();
    });
  });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  const front: TlsFront = closeAtEnd({
    origin: `https://127.0.0.1:${port}`,
    port,
    connections: 0,
    close: () => server.close(),
  });
  return front;
}
