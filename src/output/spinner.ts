import type { Terminal } from './terminal.ts';
import { safeLine, truncate } from './text.ts';
import { FRAMES, waitingIndicator } from './waiting-indicator.ts';

/** Shows on stderr that work is in progress, with a spinner on a terminal or else occasional lines. */
export interface Spinner {
  text(text: string): void;
  /** Hides the spinner while something else is written. */
  aside(write: () => Promise<void> | void): Promise<void>;
  stop(): void;
}

const aside: Spinner['aside'] = async (write) => {
  await write();
};
const silent: Spinner = { text: () => undefined, aside, stop: () => undefined };

/** Starts a spinner if stderr is a terminal with live updates. ora is loaded only in that case. */
export async function startSpinner(text: string, terminal: Terminal, quiet = false): Promise<Spinner> {
  // If a terminal has no columns, as in some CI systems, ora would clear lines forever.
  if (quiet) return silent;
  if (!terminal.errIsTty || terminal.still || !process.stderr.columns) return plainLines(text, terminal);
  const { default: ora } = await import('ora');
  // Otherwise, ora would read stdin and intercept Ctrl-C.
  const release = waitingIndicator.hold();
  const spinner = ora({
    text: inOneLine(text),
    stream: process.stderr,
    discardStdin: false,
    // ora doesn't support NO_COLOR.
    color: terminal.styleErr('cyan', text) === text ? false : 'cyan',
    spinner: { interval: 80, frames: FRAMES },
  }).start();
  return {
    text: (next) => {
      spinner.text = inOneLine(next);
    },
    aside: async (write) => {
      spinner.stop();
      await write();
      spinner.start();
    },
    stop: () => {
      spinner.stop();
      release();
    },
  };
}

/** Returns a text that fits on the terminal next to the sign. A wrapped line would move everything below it. */
function inOneLine(text: string): string {
  return truncate(safeLine(text), Math.max(1, (process.stderr.columns || 80) - 3));
}

/** The interval between progress lines, on a terminal without live updates and in a log. In ms. */
const INTERVAL_MS = { terminal: 10_000, elsewhere: 30_000 };

/** Prints progress as lines: immediately on a terminal, then at intervals if it has changed. */
export function plainLines(first: string, terminal: Terminal): Spinner {
  let text = first;
  let lastPrinted: string | undefined;
  const print = () => {
    if (text !== lastPrinted) terminal.err(`${safeLine(text)}\n`);
    lastPrinted = text;
  };
  const release = waitingIndicator.hold();
  if (terminal.errIsTty) print();
  else lastPrinted = first;
  const timer = setInterval(print, terminal.errIsTty ? INTERVAL_MS.terminal : INTERVAL_MS.elsewhere).unref();
  return {
    text: (next) => {
      text = next;
    },
    aside,
    stop: () => {
      clearInterval(timer);
      release();
    },
  };
}
