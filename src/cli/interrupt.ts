import { constants } from 'node:os';
import { abortOpenInputs } from '../kernel/files/user-file.ts';
import { waitingIndicator } from '../output/waiting-indicator.ts';

/** The reason of a stop: a signal, or something that is reported elsewhere. It is not printed as an error. */
class Interrupted extends Error {
  override readonly name = 'Interrupted';
  readonly signal: NodeJS.Signals | undefined;
  constructor(signal: NodeJS.Signals | undefined, cause?: Error) {
    super(`interrupted by ${signal ?? cause?.message}`, { cause });
    this.signal = signal;
  }
}

const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** npm forwards Ctrl-C, so a single press can arrive twice. */
const SAME_PRESS_MS = 500;
/** How long a clean stop may take before the signal ends the process. */
const GRACE_MS = 15_000;

/** Stops a run, because of Ctrl-C, another signal, or a reason in the program. */
export interface Interrupt {
  signal: AbortSignal;
  /**
   * Registers a text to print if the process must end while a request is in progress. Call the returned function once the
   * outcome of the request is known.
   */
  ifInterrupted(describe: (exitCode: number) => string): () => void;
  /** Returns the exit code for the received signal, or undefined without a signal. */
  exitCode(): number | undefined;
  /** Acts as if the signal had been received. In raw mode, a prompt receives Ctrl-C as a key instead. */
  interrupt(by: NodeJS.Signals): void;
  /** Stops the work for another reason. The process then exits normally. */
  stop(reason: Error): void;
  /** Ends the process by the received signal, if any. */
  finish(): void;
}

function exitCodeBy(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

/** How a process ends itself. Tests pass their own to simulate Windows. */
interface Ending {
  platform: NodeJS.Platform;
  pid: number;
  raise(signal: NodeJS.Signals): void;
  exit(code: number): void;
}
/**
 * Windows has no signals. Raising one would end the process immediately with exit code 1. The first process of a container can't end
 * itself with a signal: the kernel ignores it.
 */
const PROCESS_ENDING: Ending = {
  platform: process.platform,
  pid: process.pid,
  raise: (signal) => process.kill(process.pid, signal),
  exit: (code) => process.exit(code),
};

function flush(done: () => void): void {
  process.stdout.write('', () => process.stderr.write('', done));
}

/**
 * Converts the first signal to an abort, so that work stops cleanly. A second signal ends the process immediately. After the
 * clean stop, `finish` raises the signal again, so that a calling shell script stops, too.
 */
export function watchSignals(ending: Ending = PROCESS_ENDING): Interrupt {
  const controller = new AbortController();
  const descriptions = new Set<(exitCode: number) => string>();
  let firstAt = 0;
  const onSignal = (signal: NodeJS.Signals) => {
    if (controller.signal.aborted) {
      if (Date.now() - firstAt > SAME_PRESS_MS) endNow(signal);
      return;
    }
    firstAt = Date.now();
    const reason = new Interrupted(signal);
    controller.abort(reason);
    abortOpenInputs(reason);
    setTimeout(() => endNow(signal), GRACE_MS).unref();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  const endBy = (signal: NodeJS.Signals) => {
    waitingIndicator.clear();
    // Without listeners, including those of a spinner, the signal ends the process immediately.
    for (const one of SIGNALS) process.removeAllListeners(one);
    if (ending.pid === 1) ending.exit(exitCodeBy(signal));
    else if (ending.platform !== 'win32') ending.raise(signal);
    else flush(() => ending.exit(exitCodeBy(signal)));
  };
  const endNow = (signal: NodeJS.Signals) => {
    const text = [...descriptions].map((describe) => describe(exitCodeBy(signal))).join('');
    descriptions.clear();
    if (text === '') endBy(signal);
    else {
      waitingIndicator.clear(text);
      process.stderr.write(text, () => endBy(signal));
    }
  };
  return {
    signal: controller.signal,
    ifInterrupted(describe) {
      descriptions.add(describe);
      return () => descriptions.delete(describe);
    },
    exitCode() {
      const by = stoppedBy(controller.signal);
      return by && exitCodeBy(by);
    },
    interrupt: (by) => controller.abort(new Interrupted(by)),
    stop: (reason) => controller.abort(new Interrupted(undefined, reason)),
    finish() {
      const by = stoppedBy(controller.signal);
      if (by) endBy(by);
    },
  };
}

export function isInterrupted(error: unknown): boolean {
  return error instanceof Interrupted;
}

/** Returns the signal that stopped the run, or undefined if it was not stopped by a signal. */
export function stoppedBy({ reason }: AbortSignal): NodeJS.Signals | undefined {
  return reason instanceof Interrupted ? reason.signal : undefined;
}

/**
 * Resolves when the signal aborts. With ESIGN_STOP_WITH_STDIN, also resolves when stdin ends, so that a server never outlives
 * the program that started it.
 */
export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    // A pending promise doesn't keep the process alive, but this timer does.
    const alive = setInterval(() => undefined, 60_000);
    const stop = () => {
      clearInterval(alive);
      resolve();
    };
    signal.addEventListener('abort', stop, { once: true });
    if (process.env.ESIGN_STOP_WITH_STDIN) process.stdin.resume().once('close', stop);
  });
}
