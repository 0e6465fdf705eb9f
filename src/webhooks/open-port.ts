import type { Server } from 'node:http';
import { codeOf, messageOf, UsageError } from '../kernel/errors.ts';

export interface PortOptions {
  host: string;
  /** 0 for any free port. */
  port: number;
  /** The flag that sets the port. */
  flag: string;
  /** What fails if the port is in use, such as `listen`. */
  what: string;
}

/**
 * Makes the server listen, and returns its origin.
 * @throws UsageError if the port is in use, or the address isn't one of this machine.
 */
export async function openPort(server: Server, { host, port, flag, what }: PortOptions): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      const taken = isPortTaken(error);
      const why = taken ? 'the port is taken' : messageOf(error);
      const hint = taken ? `Use another port with ${flag}, or ${flag} 0 for any free one.` : undefined;
      reject(new UsageError(`Can't ${what} on ${host}:${port}: ${why}.`, { cause: error, hint }));
    });
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const real = typeof address === 'object' && address !== null ? address.port : port;
  return `http://${host.includes(':') ? `[${host}]` : host}:${real}`;
}

/** True for the system's error, and for ours caused by it. */
export function isPortTaken(error: unknown): boolean {
  return (
    codeOf(error) === 'EADDRINUSE' || (error instanceof UsageError && codeOf(error.cause) === 'EADDRINUSE')
  );
}
