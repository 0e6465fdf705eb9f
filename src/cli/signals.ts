/** Ctrl-C or a request to stop. Not an error of anybody's: nothing is printed for it. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  readonly signal: NodeJS.Signals;
  constructor(signal: NodeJS.Signals) {
    super(`interrupted by ${signal}`);
    this.signal = signal;
  }
}

const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** How long a clean stop may take before the signal wins. */
const GRACE_MS = 15_000;

/**
 * Turns the first signal into an abort, so that work ends cleanly; a second one ends the process at once.
 * `finish` raises the signal again after the clean stop: a shell script that called us stops, too.
 */
export function watchSignals(): { signal: AbortSignal; finish(): void } {
  const controller = new AbortController();
  const onSignal = (signal: NodeJS.Signals) => {
    if (controller.signal.aborted) dieBy(signal);
    controller.abort(new Interrupted(signal));
    setTimeout(() => dieBy(signal), GRACE_MS).unref();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  const dieBy = (signal: NodeJS.Signals) => {
    for (const one of SIGNALS) process.off(one, onSignal);
    process.kill(process.pid, signal);
  };
  return {
    signal: controller.signal,
    finish() {
      const reason: unknown = controller.signal.reason;
      if (reason instanceof Interrupted) dieBy(reason.signal);
    },
  };
}

/** Resolves when the signal aborts. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    // A pending promise keeps no process alive; this timer does.
    const alive = setInterval(() => undefined, 60_000);
    signal.addEventListener(
      'abort',
      () => {
        clearInterval(alive);
        resolve();
      },
      { once: true },
    );
  });
}
