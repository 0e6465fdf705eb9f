import { once } from 'node:events';
import type { Server } from 'node:http';
import { codeOf, messageOf, UsageError } from '../errors.ts';

export interface PortOptions {
  host: string;
  /** 0 picks any free port. */
  port: number;
  /** The flag that sets the port; undefined for a port that nobody chose. */
  flag?: string;
  /** What can't start if the port is in use, such as `listen`. */
  what: string;
}

/**
 * Makes a server listen and returns its origin, such as `http://127.0.0.1:4010`.
 * @throws UsageError if the port is in use or the address doesn't belong to this machine.
 */
export async function openPort(server: Server, { host, port, flag, what }: PortOptions): Promise<string> {
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    const isTaken = codeOf(error) === 'EADDRINUSE';
    const why = isTaken ? 'the port is already in use' : messageOf(error);
    const hint =
      isTaken && flag ? `Use a different port with ${flag}, or ${flag} 0 for any free one.` : undefined;
    throw new UsageError(`Can't ${what} on ${host}:${port}: ${why}.`, { cause: error, hint });
  }
  // From now on, an error means that a connection could not be accepted, which its client notices.
  server.on('error', () => undefined);
  return originOf(server, host);
}

/** Returns the origin of a listening server. */
export function originOf(server: Server, host: string): string {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Returns true if a server can't listen because its port is in use. */
export function isPortTaken(error: unknown): boolean {
  return error instanceof UsageError && codeOf(error.cause) === 'EADDRINUSE';
}

/** Stops listening and closes all connections. Resolves when they are closed. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
