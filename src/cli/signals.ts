/** Ctrl-C or a request to stop. Not an error of anybody's: nothing is printed for it. */
class Interrupted extends Error {
  override readonly name = 'Interrupted';
  readonly signal: NodeJS.Signals;
  constructor(signal: NodeJS.Signals) {
    super(`interrupted by ${signal}`);
    this.signal = signal;
  }
}

const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** One Ctrl-C can arrive twice: npm passes it on, and a library that guards its files (conf's) raises it again. */
const SAME_PRESS_MS = 500;
/** How long a clean stop may take before the signal wins. */
const GRACE_MS = 15_000;

export interface Signals {
  signal: AbortSignal;
  /** As if the signal had come: a prompt in raw mode gets Ctrl-C as a key. */
  interrupt(by: NodeJS.Signals): void;
  /** Ends the process by the signal that came, if one did. */
  finish(): void;
}

/**
 * Turns the first signal into an abort, so that work ends cleanly; a second one ends the process at once.
 * `finish` raises the signal again after the clean stop: a shell script that called us stops, too.
 */
export function watchSignals(): Signals {
  const controller = new AbortController();
  let firstAt = 0;
  const onSignal = (signal: NodeJS.Signals) => {
    if (controller.signal.aborted) {
      if (Date.now() - firstAt > SAME_PRESS_MS) dieBy(signal);
      return;
    }
    firstAt = Date.now();
    controller.abort(new Interrupted(signal));
    setTimeout(() => dieBy(signal), GRACE_MS).unref();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  const dieBy = (signal: NodeJS.Signals) => {
    // Others listen, too (a spinner's cursor guard); with none left the signal ends the process at once.
    for (const one of SIGNALS) process.removeAllListeners(one);
    process.kill(process.pid, signal);
  };
  return {
    signal: controller.signal,
    interrupt: (by) => controller.abort(new Interrupted(by)),
    finish() {
      const reason: unknown = controller.signal.reason;
      if (reason instanceof Interrupted) dieBy(reason.signal);
    },
  };
}

/**
 * Resolves when the signal aborts; with ESIGN_STOP_WITH_STDIN also when stdin ends, so that a server
 * started by another program never outlives it.
 */
export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    // A pending promise keeps no process alive; this timer does.
    const alive = setInterval(() => undefined, 60_000);
    const stop = () => {
      clearInterval(alive);
      resolve();
    };
    signal.addEventListener('abort', stop, { once: true });
    if (process.env.ESIGN_STOP_WITH_STDIN) process.stdin.resume().once('close', stop);
  });
}
