import type { Terminal } from './terminal.ts';
import { safeLine } from './text.ts';

/** A sign of life on stderr while something takes its time; nothing at all off a terminal. */
export interface Spinner {
  text(text: string): void;
  /** Takes the spinner off the screen while something else is written. */
  aside(write: () => Promise<void> | void): Promise<void>;
  stop(): void;
}

const silent: Spinner = {
  text: () => undefined,
  aside: async (write) => {
    await write();
  },
  stop: () => undefined,
};

/** Starts a spinner where stderr is a terminal; ora is loaded only then. */
export async function startSpinner(text: string, terminal: Terminal, quiet = false): Promise<Spinner> {
  // A terminal without columns (some CI systems have one) would make ora clear lines for ever.
  if (!terminal.errIsTty || quiet || !process.stderr.columns) return silent;
  const { default: ora } = await import('ora');
  // ora would take stdin to itself, and Ctrl-C with it.
  const spinner = ora({
    text: safeLine(text),
    stream: process.stderr,
    discardStdin: false,
    color: 'cyan',
  }).start();
  return {
    text: (next) => {
      spinner.text = safeLine(next);
    },
    aside: async (write) => {
      spinner.stop();
      await write();
      spinner.start();
    },
    stop: () => {
      spinner.stop();
    },
  };
}
