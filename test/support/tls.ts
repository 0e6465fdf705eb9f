import { once } from 'node:events';
import { connect } from 'node:net';
import { createServer } from 'node:tls';
import type { Certified } from './certificates.ts';

export interface TlsFront {
  /** https:// and the port. */
  origin: string;
  port: number;
  close(): void;
}

/** TLS in front of a plain server on loopback, which sees the same bytes. */
export async function startTlsFront(certified: Certified, plainPort: number): Promise<TlsFront> {
  const front = createServer(certified, (socket) => {
    const onward = connect(plainPort, '127.0.0.1');
    socket.on('error', () => onward.destroy()).pipe(onward);
    onward.on('error', () => socket.destroy()).pipe(socket);
  });
  front.on('tlsClientError', () => undefined);
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
  const bound = front.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
  return { origin: `https://127.0.0.1:${port}`, port, close: () => front.close() };
}
