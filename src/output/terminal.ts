import { isatty } from 'node:tty';
import { styleText } from 'node:util';
import type { Environment } from '../kernel/environment.ts';
import { codeOf, OutputError } from '../kernel/errors.ts';
import { diskReason } from '../kernel/files/disk-reason.ts';
import { hasControllingTerminal } from '../kernel/process/controlling-terminal.ts';
import type { TerminalWriter } from './terminal-writer.ts';
import { waitingIndicator } from './waiting-indicator.ts';

export type TextFormat = Parameters<typeof styleText>[0];

/** The user's terminal or pipe: what may be written to it, and how. Tests pass their own. */
export interface Terminal {
  /** Whether stdout is a terminal, which shows tables, colors, and relative times. */
  outIsTty: boolean;
  /** Whether stderr is a terminal, which shows spinners and progress. */
  errIsTty: boolean;
  /** Whether live updates are disabled. Progress is then printed as lines. */
  still: boolean;
  /** Whether tables are printed as `Header: value` lines, for screen readers and braille displays. */
  accessible?: boolean;
  /** Whether questions can be asked on stdin. */
  canAsk: boolean;
  /** Whether questions can be asked on the controlling terminal if stdin was used for something else. */
  canAskPastStdin: boolean;
  /** The number of columns of the terminal; infinite in a pipe. */
  columns: number;
  /** Writes data. Resolves when there is room for more. Rejects with an OutputError if stdout can't be written. */
  out(text: string | Uint8Array): Promise<void>;
  /** Writes notices and errors. */
  err(text: string): void;
  /** Formats text for stdout. Returns plain text if color is disabled. `styleErr` is the same for stderr. */
  style(format: TextFormat, text: string): string;
  styleErr(format: TextFormat, text: string): string;
}

/** Returns the number of columns of stderr; infinite if it is not a terminal. */
export function errColumns(): number {
  const { stderr } = process;
  return stderr.isTTY ? stderr.columns || 80 : Number.POSITIVE_INFINITY;
}

/** Returns the number of lines of the terminal of stderr; infinite if it is not a terminal. */
export function errRows(): number {
  const { stderr } = process;
  return stderr.isTTY ? stderr.rows || 24 : Number.POSITIVE_INFINITY;
}

export interface TerminalOptions {
  noInput?: boolean | undefined;
  /** Writes to terminals without blocking. Without it, a write waits until the terminal is read. */
  writer?: TerminalWriter | undefined;
  /** Receives results that can't be written to stdout. Without it, `out` rejects. */
  undelivered?: ((text: string) => void) | undefined;
}

/**
 * Returns the terminal of the process's streams. `--no-input` and CI disable questions; ESIGN_NO_SPINNER, ESIGN_ACCESSIBLE, and TERM=dumb disable
 * live updates.
 */
export function processTerminal(options: TerminalOptions, env: Environment = process.env): Terminal {
  const { stdout, stderr } = process;
  const { writer } = options;
  const outColor = wantsColor(stdout.isTTY, env);
  const errColor = wantsColor(stderr.isTTY, env);
  const mayAsk = stderr.isTTY && !options.noInput && !env.CI;
  let canAskPastStdin: boolean | undefined;
  return {
    outIsTty: stdout.isTTY,
    errIsTty: stderr.isTTY,
    still: Boolean(env.ESIGN_NO_SPINNER) || Boolean(env.ESIGN_ACCESSIBLE) || env.TERM === 'dumb',
    accessible: Boolean(env.ESIGN_ACCESSIBLE),
    // Reading process.stdin.isTTY would open stdin.
    canAsk: isatty(0) && mayAsk,
    get canAskPastStdin() {
      // Determined only once, because it opens the terminal.
      canAskPastStdin ??= mayAsk && hasControllingTerminal();
      return canAskPastStdin;
    },
    get columns() {
      return stdout.isTTY ? stdout.columns || 80 : Number.POSITIVE_INFINITY;
    },
    out: (text) => {
      waitingIndicator.clear(stdout.isTTY ? text : undefined);
      if (writer && stdout.isTTY) return writer.write(stdout, text);
      return write(stdout, text, options.undelivered);
    },
    err: (text) => {
      waitingIndicator.clear(text);
      if (writer && stderr.isTTY) void writer.write(stderr, text);
      else stderr.write(text);
    },
    style: (format, text) => (outColor ? paint(format, text) : text),
    styleErr: (format, text) => (errColor ? paint(format, text) : text),
  };
}

function paint(format: TextFormat, text: string): string {
  return styleText(format, text, { validateStream: false });
}

/** Returns true if output should be colored. Empty NO_COLOR and FORCE_COLOR are ignored. TERM=dumb has no color. */
function wantsColor(isTty: boolean, env: Environment): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0';
  return isTty && env.TERM !== 'dumb';
}

/** Returns true if the reader of a pipe is gone. Node programs use sockets as their children's streams, which may be reset. */
export function isClosedPipe(error: unknown): boolean {
  return ['EPIPE', 'ECONNRESET', 'EOF'].includes(codeOf(error) ?? '');
}

/** Returns the error for a result that can't be written to stdout. */
export function cannotWrite(error: unknown): OutputError {
  const [reason, advice] = isClosedPipe(error)
    ? ['stdout was closed', 'The program that reads the output has ended.']
    : [diskReason(error), 'Free up disk space, or redirect the output.'];
  return new OutputError('OUTPUT', `Can't write the output: ${reason}.`, {
    cause: error,
    hint: `${advice} Completed steps are not undone.`,
  });
}

function write(
  stream: NodeJS.WriteStream,
  text: string | Uint8Array,
  undelivered?: (text: string) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    // Waiting for `drain` instead would need a listener for each of many writes.
    const hasRoom = stream.write(text, (error) => {
      if (!error) resolve();
      else if (undelivered === undefined) reject(cannotWrite(error));
      else {
        if (typeof text === 'string') undelivered(text);
        resolve();
      }
    });
    if (hasRoom) resolve();
  });
}
