import { isatty } from 'node:tty';

/** Keys by which a terminal sends a signal, as long as nobody takes its keys. */
const SIGNALS: Readonly<Record<string, NodeJS.Signals>> = {
  '\u0003': 'SIGINT',
  '\u001a': 'SIGTSTP',
  '\u001c': 'SIGQUIT',
};

/**
 * Does what the terminal would have done for a key. Windows knows no signals: sent there, one ends the process at once or fails,
 * so those who listen are told; a key for another one is nothing special there.
 */
export function signalTyped(signal: NodeJS.Signals, platform = process.platform): void {
  if (platform !== 'win32') process.kill(process.pid, signal);
  else if (signal === 'SIGINT') process.emit(signal, signal);
}

/** Takes what is typed, so that the terminal does not write it into what is drawn there. What stops or suspends still does. */
export class TypedKeys {
  readonly #onKey: (key: string) => void;
  #taken = false;

  /** @param onKey is told of each other key */
  constructor(onKey: (key: string) => void = () => undefined) {
    this.#onKey = onKey;
  }

  take(): void {
    if (this.#taken || !isatty(0)) return;
    this.#taken = true;
    process.stdin.setRawMode(true);
    process.stdin.on('data', this.#heed).resume();
    // Waiting for keys is nothing to stay for.
    process.stdin.unref();
  }

  giveBack(): void {
    if (!this.#taken) return;
    this.#taken = false;
    process.stdin.off('data', this.#heed).pause();
    process.stdin.setRawMode(false);
  }

  readonly #heed = (typed: Uint8Array | string) => {
    for (const key of String(typed)) {
      const signal = SIGNALS[key];
      if (signal !== undefined) signalTyped(signal);
      else this.#onKey(key);
    }
  };
}
