import type { Redactor } from '../kernel/redaction.ts';
import { jsonText } from '../output/json.ts';
import { errColumns, processTerminal, type Terminal } from '../output/terminal.ts';
import { TerminalWriter } from '../output/terminal-writer.ts';
import { paragraph, safeLine } from '../output/text.ts';
import { waitingIndicator } from '../output/waiting-indicator.ts';
import { commandForAccount, withAccount } from './account-commands.ts';
import type { RunAccount } from './session/account.ts';

export interface TerminalFlags {
  json?: boolean;
  'no-input'?: boolean;
  /** Whether the command continues while nobody reads its terminal (Ctrl-S, a lost connection). */
  neverBlocks?: boolean;
}

interface WaitOptions {
  immediately?: boolean;
  /** Whether to print a line once instead of animating it, because another program may use the terminal. */
  still?: boolean;
}

/** The terminal of a command, with common functions for output. */
export interface CommandTerminal extends Terminal {
  /** Whether results are written as JSON. If so, stderr consists of lines of JSON, too: notices and the error. */
  json: boolean;
  redactor: Redactor;
  /** The account of the run, for the commands in errors. */
  account: RunAccount;
  /** Writes a line to stderr, even if it isn't a terminal. With --json, it is `{"notice":…}`. */
  notice(text: string): void;
  /** Returns a command to print as the next step, ready to run with the account of this run. */
  command(...words: readonly string[]): string;
  /** Writes an object of a stream as a line of JSON, without secrets. */
  jsonLine(value: unknown): Promise<void>;
  /** Returns a terminal for output that repeats the user's input, which may contain a secret. */
  hidingSecrets(): CommandTerminal;
  /** Shows on a terminal that the command is waiting, after a short delay and until the returned function is called. */
  showWaiting(text: string, options?: WaitOptions): () => void;
  waiting<T>(text: string, work: () => Promise<T>, options?: WaitOptions): Promise<T>;
  /** Resolves when the terminal has accepted everything so far. */
  flushed(): Promise<void>;
}

/** A terminal for texts that name the commands to run next. */
export type NextStepsTerminal = Terminal & Pick<CommandTerminal, 'account' | 'command'>;

/** The terminal's dependencies: the redactor, and a destination for results that can't be written to stdout. */
interface TerminalParts {
  redactor: Redactor;
  output: { undelivered: ((text: string) => void) | undefined };
  account: RunAccount;
}

export function createTerminal(
  flags: TerminalFlags,
  { redactor, output, account }: TerminalParts,
): CommandTerminal {
  // On Windows, Node never blocks, and text must go through its console functions.
  const writer = flags.neverBlocks && process.platform !== 'win32' ? new TerminalWriter() : undefined;
  const base = processTerminal({
    writer,
    noInput: flags['no-input'],
    undelivered: output.undelivered,
  });
  const json = flags.json ?? false;
  const showWaiting: CommandTerminal['showWaiting'] = (text, { immediately, still: once } = {}) => {
    const { errIsTty, still, styleErr } = base;
    // Some CI systems have a terminal without columns, where a line can't be redrawn.
    if (writer || !errIsTty || !process.stderr.columns || ((still || once) && json)) return () => undefined;
    const paint = (frame: string) => styleErr('cyan', frame);
    return waitingIndicator.begin({ text: safeLine(text), moves: !still && !once, paint, immediately });
  };
  const own: Omit<CommandTerminal, keyof Terminal> = {
    json,
    redactor,
    account,
    notice: (text) => {
      const shown = redactor.redact(safeLine(withAccount(text, account)));
      base.err(`${json ? jsonText({ notice: shown }) : paragraph(shown, errColumns())}\n`);
    },
    command: (...words) => commandForAccount(account, ...words),
    jsonLine: (value) => base.out(redactor.redact(`${jsonText(value)}\n`)),
    hidingSecrets: () => ({
      ...terminal,
      out: (text) => base.out(typeof text === 'string' ? redactor.redact(text) : text),
    }),
    showWaiting,
    flushed: async () => writer?.flushed(),
    waiting: async (text, work, options) => {
      const done = showWaiting(text, options);
      try {
        return await work();
      } finally {
        done();
      }
    },
  };
  // Assigned rather than spread, because the number of columns is a getter that follows the terminal's size.
  const terminal: CommandTerminal = Object.assign(base, own);
  return terminal;
}
