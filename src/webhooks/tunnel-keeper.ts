import { aborted, abortReason, type Clock } from '../kernel/clock.ts';
import { sentenceOf, UsageError } from '../kernel/errors.ts';
import { openTunnel, type Tunnel } from './tunnel.ts';

export interface TunnelOptions {
  listensAt: string;
  clock: Clock;
  signal: AbortSignal;
  /** It is started again when it breaks down. */
  restarts: boolean;
  onUp: (url: string) => void;
  /** It broke down, and is started again soon. */
  onGone: (error: unknown, message: string) => void;
}

const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * Keeps a tunnel open until the signal aborts, and closes it then.
 * @throws the error of one that is not started again; UsageError when there is no such program.
 */
export async function keepTunnel(line: string, options: TunnelOptions): Promise<void> {
  const { signal, clock, restarts, onUp, onGone } = options;
  const state = { pauseMs: FIRST_PAUSE_MS, wasUp: false };
  const isOver = () => signal.aborted;
  while (!isOver()) {
    const error = await untilBroken(line, options, (url) => {
      state.pauseMs = FIRST_PAUSE_MS;
      state.wasUp = true;
      onUp(url);
    });
    if (isOver()) return;
    if (!restarts || (!state.wasUp && error instanceof UsageError)) throw error;
    onGone(error, `${sentenceOf(error)} It is started again in ${state.pauseMs / 1_000} s.`);
    await clock.sleep(state.pauseMs, signal).catch(() => undefined);
    state.pauseMs = Math.min(2 * state.pauseMs, LONGEST_PAUSE_MS);
  }
}

/** The error by which it broke down, or did not start, or that of the signal. */
async function untilBroken(
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
