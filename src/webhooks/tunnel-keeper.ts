import { type BackOff, backOff } from '../kernel/back-off.ts';
import { aborted, abortReason, type Clock } from '../kernel/clock.ts';
import { sentenceOf, UsageError } from '../kernel/errors.ts';
import { openTunnel, type Tunnel } from './tunnel.ts';

export interface TunnelOptions {
  listensAt: string;
  clock: Clock;
  signal: AbortSignal;
  /** Whether to restart the tunnel when it breaks. */
  restarts: boolean;
  onUp: (url: string) => void;
  /** Called when the tunnel broke and will be restarted. */
  onDown: (error: unknown, message: string) => void;
}

const RESTART_DELAY: BackOff = { firstMs: 2_000, longestMs: 60_000 };

/**
 * Keeps a tunnel open until the signal aborts, then closes it.
 * @throws the error of a tunnel that isn't restarted; UsageError if the program doesn't exist.
 */
export async function keepTunnel(line: string, options: TunnelOptions): Promise<void> {
  const { signal, clock, restarts, onUp, onDown } = options;
  const state = { failures: 0, wasUp: false };
  const isStopped = () => signal.aborted;
  while (!isStopped()) {
    const error = await runUntilBroken(line, options, (url) => {
      state.failures = 0;
      state.wasUp = true;
      onUp(url);
    });
    if (isStopped()) return;
    if (!restarts || (!state.wasUp && error instanceof UsageError)) throw error;
    const delayMs = backOff(state.failures++, RESTART_DELAY);
    onDown(error, `${sentenceOf(error)} Restarting it in ${delayMs / 1_000} s.`);
    await clock.sleep(delayMs, signal).catch(() => undefined);
  }
}

/** Runs the tunnel. Returns the error that broke it or kept it from starting, or the reason of the signal. */
async function runUntilBroken(
  line: string,
  { listensAt, clock, signal }: TunnelOptions,
  onUp: (url: string) => void,
): Promise<Error> {
  let tunnel: Tunnel | undefined;
  try {
    tunnel = await openTunnel(line, { listensAt, clock, signal });
    onUp(tunnel.url);
    await aborted(AbortSignal.any([signal, tunnel.broken]));
    return abortReason(tunnel.broken.aborted ? tunnel.broken : signal);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    await tunnel?.close();
  }
}
