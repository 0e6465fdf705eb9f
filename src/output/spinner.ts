import type { Terminal } from './terminal.ts';
import { safeLine } from './text.ts';
import { waitingSign } from './waiting-sign.ts';

/** A sign of life on stderr while something takes its time: what moves on a terminal, elsewhere a line now and then. */
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

const FRAMES = [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'];

/** Starts a spinner where stderr is a terminal on which things may move; ora is loaded only then. */
export async function startSpinner(text: string, terminal: Terminal, quiet = false): Promise<Spinner> {
  // A terminal without columns (some CI systems have one) would make ora clear lines for ever.
  if (quiet) return silent;
  if (!terminal.errIsTty || terminal.still || !process.stderr.columns) return plainLines(text, terminal);
  const { default: ora } = await import('ora');
  // ora would take stdin to itself, and Ctrl-C with it.
  const release = waitingSign.hold();
  const spinner = ora({
    text: safeLine(text),
    stream: process.stderr,
    discardStdin: false,
    // Its own idea of colour knows no NO_COLOR.
    color: terminal.styleErr('cyan', text) === text ? false : 'cyan',
    spinner: { interval: 80, frames: FRAMES },
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
      release();
    },
  };
}

/** How often progress is said: to a person who listens, and to a log. In ms. */
const SAID_EVERY = { terminal: 10_000, elsewhere: 30_000 };

/** Progress as lines: at once on a terminal, and again when it has changed after a while. */
export function plainLines(first: string, terminal: Terminal): Spinner {
  let text = first;
  let said: string | undefined;
  const say = () => {
    if (text !== said) terminal.err(`${safeLine(text)}\n`);
    said = text;
  };
  const release = waitingSign.hold();
  if (terminal.errIsTty) say();
  else said = first;
  const timer = setInterval(say, terminal.errIsTty ? SAID_EVERY.terminal : SAID_EVERY.elsewhere).unref();
  return {
    text: (next) => {
      text = next;
    },
    aside: async (write) => {
      await write();
    },
    stop: () => {
      clearInterval(timer);
      release();
    },
  };
}
