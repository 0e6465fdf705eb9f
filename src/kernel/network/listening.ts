import { once } from 'node:events';
import type { Server } from 'node:http';

/** Makes a server listen. Port 0 selects a free one. Rejects with the system's error. */
export async function listenOn(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host);
  await once(server, 'listening');
}

/** Returns the origin of a listening server, such as `http://127.0.0.1:4010`. */
export function originOf(server: Server, host: string): string {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Stops listening and closes all connections. Resolves when they are closed. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
