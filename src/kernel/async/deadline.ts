import { setMaxListeners } from 'node:events';

export interface Deadline {
  signal: AbortSignal;
  /** Removes the timer and listeners when the work is done. */
  end(): void;
}

/**
 * Aborts after `ms`, or `graceMs` after the caller's signal aborts. AbortSignal.timeout and .any would stay in memory until the
 * time is up, which is half a minute for each of a hundred thousand requests.
 */
export function startDeadline(
  outer: AbortSignal | undefined,
  { ms, graceMs = 0 }: { ms?: number; graceMs?: number },
): Deadline {
  const controller = new AbortController();
  const abort = () => controller.abort(outer?.aborted ? outer.reason : undefined);
  const timer = ms === undefined ? undefined : setTimeout(abort, ms).unref();
  let grace: NodeJS.Timeout | undefined;
  const onStop = () => {
    if (graceMs > 0) grace = setTimeout(abort, graceMs);
    else abort();
  };
  if (outer?.aborted) onStop();
  // Each request in progress adds a listener. Without this, Node warns about more than ten.
  if (outer) setMaxListeners(0, outer);
  outer?.addEventListener('abort', onStop, { once: true });
  return {
    signal: controller.signal,
    end: () => {
      clearTimeout(timer);
      clearTimeout(grace);
      outer?.removeEventListener('abort', onStop);
    },
  };
}
