import type { Server } from 'node:http';
import type { Clock } from '../kernel/clock.ts';
import { codeOf, messageOf, UsageError } from '../kernel/errors.ts';
import { listenOn, originOf } from '../kernel/network/listening.ts';

export interface PortOptions {
  host: string;
  /** 0 picks any free port. */
  port: number;
  /** The flag that sets the port. */
  flag: string;
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
    const taken = isPortTaken(error);
    const why = taken ? 'the port is already in use' : messageOf(error);
    const hint = taken ? `Use a different port with ${flag}, or ${flag} 0 for any free one.` : undefined;
    throw new UsageError(`Can't ${what} on ${host}:${port}: ${why}.`, { cause: error, hint });
  }
  // From now on, an error means that a connection could not be accepted, which its client notices.
  server.on('error', () => undefined);
  return originOf(server, host);
}

/** The interval at which a port in use is tried again. */
const PORT_RETRY_MS = 1_000;

/** Starts a server. While its port is in use, reports that and tries again. Returns undefined if the signal aborts first. */
export async function retryWhilePortIsTaken<T>(
  start: () => Promise<T>,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
  onTaken: (message: string) => void,
): Promise<T | undefined> {
  while (!signal.aborted) {
    try {
      return await start();
    } catch (error) {
      if (!isPortTaken(error)) throw error;
      onTaken(messageOf(error));
    }
    await clock.sleep(PORT_RETRY_MS, signal).catch(() => undefined);
  }
  return undefined;
}

/** Returns true for the system's error and for a UsageError caused by it. */
function isPortTaken(error: unknown): boolean {
  return (
    codeOf(error) === 'EADDRINUSE' || (error instanceof UsageError && codeOf(error.cause) === 'EADDRINUSE')
  );
}
