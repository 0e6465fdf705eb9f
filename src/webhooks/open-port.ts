import type { Server } from 'node:http';
import type { Clock } from '../kernel/clock.ts';
import { codeOf, messageOf, UsageError } from '../kernel/errors.ts';

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

/** The interval at which a port in use is tried again. */
const PORT_AGAIN_MS = 1_000;

/** Starts a server. While its port is in use, reports that and tries again. Returns undefined if the signal aborts first. */
export async function whenPortIsFree<T>(
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
    await clock.sleep(PORT_AGAIN_MS, signal).catch(() => undefined);
  }
  return undefined;
}

/** Returns true for the system's error and for a UsageError caused by it. */
function isPortTaken(error: unknown): boolean {
  return (
    codeOf(error) === 'EADDRINUSE' || (error instanceof UsageError && codeOf(error.cause) === 'EADDRINUSE')
  );
}
