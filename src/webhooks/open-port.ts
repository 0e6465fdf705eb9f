import type { Server } from 'node:http';
import { codeOf, messageOf, UsageError } from '../kernel/errors.ts';
import { listenOn, originOf } from '../kernel/network/listening.ts';

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
 * Makes the server listen and returns its origin.
 * @throws UsageError if the port is in use or the address doesn't belong to this machine.
 */
export async function openPort(server: Server, { host, port, flag, what }: PortOptions): Promise<string> {
  try {
    await listenOn(server, port, host);
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
