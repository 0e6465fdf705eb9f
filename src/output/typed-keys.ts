import { isatty } from 'node:tty';

/** Keys for which a terminal sends a signal, except in raw mode. */
const SIGNALS: Readonly<Record<string, NodeJS.Signals>> = {
  '\u0003': 'SIGINT',
  '\u001a': 'SIGTSTP',
  '\u001c': 'SIGQUIT',
};

/**
 * Does what the terminal does for a key outside raw mode. On Windows, sending a signal ends the process or fails, so the listeners
 * are called directly.
 */
export function raiseSignal(signal: NodeJS.Signals, platform = process.platform): void {
  if (platform !== 'win32') process.kill(process.pid, signal);
  else if (signal === 'SIGINT') process.emit(signal, signal);
}

/** Reads keys, so that the terminal doesn't echo them on the screen. Keys that stop or suspend still work. */
export class RawKeys {
  readonly #onKey: (key: string) => void;
  #isStarted = false;

  /** @param onKey called for each other key */
  constructor(onKey: (key: string) => void = () => undefined) {
    this.#onKey = onKey;
  }

  start(): void {
    if (this.#isStarted || !isatty(0)) return;
    this.#isStarted = true;
    process.stdin.setRawMode(true);
    process.stdin.on('data', this.#onData).resume();
    // Waiting for keys must not keep the process running.
    process.stdin.unref();
  }

  stop(): void {
    if (!this.#isStarted) return;
    this.#isStarted = false;
    process.stdin.off('data', this.#onData).pause();
    process.stdin.setRawMode(false);
  }

  readonly #onData = (typed: Uint8Array | string) => {
    for (const key of String(typed)) {
      const signal = SIGNALS[key];
      if (signal !== undefined) raiseSignal(signal);
      else this.#onKey(key);
    }
  };
}
