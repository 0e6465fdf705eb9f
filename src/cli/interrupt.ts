import { constants } from 'node:os';
import { waitingSign } from '../output/waiting-sign.ts';

/** Why work stops: a signal, or another reason that is reported elsewhere. Not an error: nothing is printed for it. */
class Interrupted extends Error {
  override readonly name = 'Interrupted';
  readonly signal: NodeJS.Signals | undefined;
  constructor(signal: NodeJS.Signals | undefined, cause?: Error) {
    super(`interrupted by ${signal ?? cause?.message}`, { cause });
    this.signal = signal;
  }
}

const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** One Ctrl-C can arrive twice: npm passes it on. */
const SAME_PRESS_MS = 500;
/** How long a clean stop may take before the signal wins. */
const GRACE_MS = 15_000;

/** How a run is stopped: by Ctrl-C, another signal, or a reason of its own. */
export interface Interrupt {
  signal: AbortSignal;
  /**
   * Told by whoever has something under way that must not end without a word: `say` writes it when the process must end
   * before it is settled. Called back, what is returned forgets it.
   */
  lastWords(say: (exitCode: number) => string): () => void;
  /** The exit code of a process that ends by the signal that came; undefined when none did. */
  exitCode(): number | undefined;
  /** As if the signal had come: a prompt in raw mode gets Ctrl-C as a key. */
  interrupt(by: NodeJS.Signals): void;
  /** Stops the work as a signal does, for another reason; the process then ends by itself. */
  stop(reason: Error): void;
  /** Ends the process by the signal that came, if one did. */
  finish(): void;
}

/** What a shell says of a process that a signal ended. */
function exitCodeBy(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

/** How a process ends itself; a test can stand in for Windows. */
interface Ending {
  platform: NodeJS.Platform;
  raise(signal: NodeJS.Signals): void;
  exit(code: number): void;
}
/** Windows knows no signals: raised there, one ends the process at once and with 1. */
const OWN: Ending = {
  platform: process.platform,
  raise: (signal) => process.kill(process.pid, signal),
  exit: (code) => process.exit(code),
};

/** What was written before is out when `done` is called. */
function flush(done: () => void): void {
  process.stdout.write('', () => process.stderr.write('', done));
}

/**
 * Turns the first signal into an abort, so that work ends cleanly; a second one ends the process at once.
 * `finish` raises the signal again after the clean stop: a shell script that called us stops, too.
 */
export function watchSignals(ending: Ending = OWN): Interrupt {
  const controller = new AbortController();
  const words = new Set<(exitCode: number) => string>();
  let firstAt = 0;
  const onSignal = (signal: NodeJS.Signals) => {
    if (controller.signal.aborted) {
      if (Date.now() - firstAt > SAME_PRESS_MS) dieAtOnce(signal);
      return;
    }
    firstAt = Date.now();
    controller.abort(new Interrupted(signal));
    setTimeout(() => dieAtOnce(signal), GRACE_MS).unref();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  const dieBy = (signal: NodeJS.Signals) => {
    waitingSign.gone();
    // Others listen, too (a spinner's cursor guard); with none left the signal ends the process at once.
    for (const one of SIGNALS) process.removeAllListeners(one);
    if (ending.platform !== 'win32') ending.raise(signal);
    else flush(() => ending.exit(exitCodeBy(signal)));
  };
  const dieAtOnce = (signal: NodeJS.Signals) => {
    const text = [...words].map((say) => say(exitCodeBy(signal))).join('');
    words.clear();
    if (text === '') dieBy(signal);
    else {
      waitingSign.gone(text);
      process.stderr.write(text, () => dieBy(signal));
    }
  };
  return {
    signal: controller.signal,
    lastWords(say) {
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
      if (reason instanceof Interrupted && reason.signal) dieBy(reason.signal);
    },
  };
}

/** The signal that a run was asked to stop by; undefined while it was not. */
export function stoppedBy({ reason }: AbortSignal): NodeJS.Signals | undefined {
  return reason instanceof Interrupted ? reason.signal : undefined;
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
