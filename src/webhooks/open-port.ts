import type { Server } from 'node:http';
import { codeOf, messageOf, UsageError } from '../kernel/errors.ts';

export interface PortOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** The flag by which another one is given. */
  flag: string;
  /** What can't be done where it is taken, such as `listen`. */
  what: string;
}

/**
 * Has the server listen; its origin.
 * @throws UsageError when the port is taken, or the address is not one of this machine's.
 */
export async function openPort(server: Server, { host, port, flag, what }: PortOptions): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      const taken = isPortTaken(error);
      const why = taken ? 'the port is taken' : messageOf(error);
      const hint = taken ? `Give another one with ${flag}, or ${flag} 0 for any free one.` : undefined;
      reject(new UsageError(`Can't ${what} on ${host}:${port}: ${why}.`, { cause: error, hint }));
    });
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const real = typeof address === 'object' && address !== null ? address.port : port;
  return `http://${host.includes(':') ? `[${host}]` : host}:${real}`;
}

/** True of the system's error, and of ours that it has caused. */
export function isPortTaken(error: unknown): boolean {
  return (
    codeOf(error) === 'EADDRINUSE' || (error instanceof UsageError && codeOf(error.cause) === 'EADDRINUSE')
  );
}
