import { setMaxListeners } from 'node:events';

export interface Deadline {
  signal: AbortSignal;
  /** After the work: forgets timers and listeners. */
  end(): void;
}

/**
 * Aborts after so many ms, or `graceMs` after the caller's signal does. AbortSignal.timeout and .any would live on until
 * the time is up: of a hundred thousand requests each is then in memory for half a minute.
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
  // As many listen as requests are under way.
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
