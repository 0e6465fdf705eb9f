import { constants } from 'node:os';
import { stopInputs } from '../kernel/files/user-file.ts';
import { waitingSign } from '../output/waiting-sign.ts';

/** Why work stops: a signal, or a reason that is reported elsewhere. It is not printed as an error. */
class Interrupted extends Error {
  override readonly name = 'Interrupted';
  readonly signal: NodeJS.Signals | undefined;
  constructor(signal: NodeJS.Signals | undefined, cause?: Error) {
    super(`interrupted by ${signal ?? cause?.message}`, { cause });
    this.signal = signal;
  }
}

const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** One Ctrl-C can arrive twice, because npm forwards it. */
const SAME_PRESS_MS = 500;
/** How long a clean stop may take before the process is ended by the signal. */
const GRACE_MS = 15_000;

/** How a run is stopped: by Ctrl-C, another signal, or a reason in the program. */
export interface Interrupt {
  signal: AbortSignal;
  /**
   * Registers text to print if the process must end while a request is in progress. Call the returned function once its
   * outcome is known.
   */
  ifInterrupted(say: (exitCode: number) => string): () => void;
  /** Returns the exit code for the signal that was received; undefined without one. */
  exitCode(): number | undefined;
  /** Acts as if the signal had been received: a prompt in raw mode gets Ctrl-C as a key. */
  interrupt(by: NodeJS.Signals): void;
  /** Stops the work for another reason. The process then ends by itself. */
  stop(reason: Error): void;
  /** Ends the process by the signal that was received, if any. */
  finish(): void;
}

/** Returns the exit code that a shell reports for a process ended by a signal. */
function exitCodeBy(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

/** How a process ends itself. Tests pass their own, for Windows. */
interface Ending {
  platform: NodeJS.Platform;
  raise(signal: NodeJS.Signals): void;
  exit(code: number): void;
}
/** Windows has no signals: raising one ends the process immediately with 1. */
const OWN: Ending = {
  platform: process.platform,
  raise: (signal) => process.kill(process.pid, signal),
  exit: (code) => process.exit(code),
};

/** Calls `done` when everything that was written has been flushed. */
function flush(done: () => void): void {
  process.stdout.write('', () => process.stderr.write('', done));
}

/**
 * Turns the first signal into an abort, so that work ends cleanly. A second one ends the process immediately. `finish` raises
 * the signal again after the clean stop, so that a calling shell script stops as well.
 */
export function watchSignals(ending: Ending = OWN): Interrupt {
  const controller = new AbortController();
  const words = new Set<(exitCode: number) => string>();
  let firstAt = 0;
  const onSignal = (signal: NodeJS.Signals) => {
    if (controller.signal.aborted) {
      if (Date.now() - firstAt > SAME_PRESS_MS) endNow(signal);
      return;
    }
    firstAt = Date.now();
    const reason = new Interrupted(signal);
    controller.abort(reason);
    stopInputs(reason);
    setTimeout(() => endNow(signal), GRACE_MS).unref();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  const endBy = (signal: NodeJS.Signals) => {
    waitingSign.gone();
    // Without any listener, such as a spinner's, the signal ends the process immediately.
    for (const one of SIGNALS) process.removeAllListeners(one);
    if (ending.platform !== 'win32') ending.raise(signal);
    else flush(() => ending.exit(exitCodeBy(signal)));
  };
  const endNow = (signal: NodeJS.Signals) => {
    const text = [...words].map((say) => say(exitCodeBy(signal))).join('');
    words.clear();
    if (text === '') endBy(signal);
    else {
      waitingSign.gone(text);
      process.stderr.write(text, () => endBy(signal));
    }
  };
  return {
    signal: controller.signal,
    ifInterrupted(say) {
      words.add(say);
      return () => words.delete(say);
    },
    exitCode() {
      const reason: unknown = controller.signal.reason;
      return reason instanceof Interrupted && reason.signal ? exitCodeBy(reason.signal) : undefined;
    },
    interrupt: (by) => controller.abort(new Interrupted(by)),
    stop: (reason) => controller.abort(new Interrupted(undefined, reason)),
    finish() {
      const reason: unknown = controller.signal.reason;
      if (reason instanceof Interrupted && reason.signal) endBy(reason.signal);
    },
  };
}

/** Returns true for the reason of an interruption. */
export function isInterrupted(error: unknown): boolean {
  return error instanceof Interrupted;
}

/** Returns the signal that stopped the run; undefined if none did. */
export function stoppedBy({ reason }: AbortSignal): NodeJS.Signals | undefined {
  return reason instanceof Interrupted ? reason.signal : undefined;
}

/**
 * Resolves when the signal aborts; with ESIGN_STOP_WITH_STDIN, also when stdin ends, so that a server never outlives the
 * program that started it.
 */
export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    // A pending promise doesn't keep the process alive; this timer does.
    const alive = setInterval(() => undefined, 60_000);
    const stop = () => {
      clearInterval(alive);
      resolve();
    };
    signal.addEventListener('abort', stop, { once: true });
    if (process.env.ESIGN_STOP_WITH_STDIN) process.stdin.resume().once('close', stop);
  });
}
