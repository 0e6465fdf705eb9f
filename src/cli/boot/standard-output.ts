import { setImmediate } from 'node:timers/promises';
import { COMMAND_EFFECTS, SAVING_COMMANDS } from '../../kernel/command-effects.ts';
import { EsignError, OutputError, sentenceOf } from '../../kernel/errors.ts';
import { cannotWrite, isClosedPipe } from '../../output/terminal.ts';
import { EXIT } from '../exit-codes.ts';
import type { Interrupt } from '../interrupt.ts';

/** How to handle a closed stdout: exit because the reader needs no more, stop because results can be printed on stderr, or fail. */
type WhenClosed = 'exit' | 'stop' | 'fail';

/** The options with which a file is printed instead of saved. */
const TO_STDOUT = /(?:^| )(?:-o|--output)[ =]?-(?: |$)/;
const WRITING_METHOD = /^(post|put|patch|delete)$/i;

/** Handles stdout and stderr of a run. Decides what a closed pipe or a full disk means for the command. */
export class StandardOutput {
  readonly #interrupt: Interrupt;
  #whenClosed: WhenClosed = 'exit';
  #hint: string | undefined;
  /** Why stdout can no longer be written. */
  lost: OutputError | undefined;

  constructor(interrupt: Interrupt) {
    this.#interrupt = interrupt;
  }

  /** Receives results that can't be written to stdout. Undefined if the command should fail instead. */
  get undelivered(): ((text: string) => void) | undefined {
    return this.#whenClosed === 'stop' ? (text) => process.stderr.write(text) : undefined;
  }

  /**
   * Prepares stdout for a command, given its ID and the words after it. If the command changes something or saves files, results that
   * can't be written to stdout go to stderr, so that no result is lost.
   */
  prepare(id: string, words: readonly string[]): void {
    this.#whenClosed = whenClosed(id, words);
    this.#hint = SAVING_COMMANDS.includes(id)
      ? 'To save the remaining files, run the command again.'
      : undefined;
  }

  /**
   * Handles errors of stdout and stderr. If the reader of stdout is gone (`| head -1`), a command that only reads exits silently.
   * Other commands, and other errors of stdout, stop as cleanly as after SIGTERM and are reported at the end. Output that stderr
   * doesn't accept is dropped. Call this again after loading oclif, which adds a listener that throws.
   */
  watch(): void {
    for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error');
    process.stderr.on('error', () => undefined);
    process.stdout.on('error', (error) => {
      const isClosed = isClosedPipe(error);
      if (isClosed && this.#whenClosed === 'exit') process.exit(EXIT.ok);
      this.lost ??=
        isClosed && this.#whenClosed === 'stop' ? closedByReader(error, this.#hint) : cannotWrite(error);
      this.#interrupt.stop(this.lost);
    });
  }

  /** Resolves when stdout has accepted everything or has failed. */
  async flushed(): Promise<void> {
    const { stdout } = process;
    if (stdout.writableLength > 0) await new Promise((resolve) => stdout.write('', resolve));
    // The error of a write is emitted shortly after it.
    await setImmediate();
  }
}

function whenClosed(id: string, words: readonly string[]): WhenClosed {
  if (id === 'listen') return 'fail';
  if (SAVING_COMMANDS.includes(id)) return TO_STDOUT.test(words.join(' ')) ? 'exit' : 'stop';
  return isWriteCommand(id, words) || id === 'mcp' ? 'stop' : 'exit';
}

/** Returns true for a command that writes to another system, emails people, or deletes. Servers only pass on the writes of others. */
export function isWriteCommand(id: string, words: readonly string[]): boolean {
  if (words.includes('--dry-run') || ['listen', 'mcp'].includes(id)) return false;
  if (id === 'api') return words.some((word) => WRITING_METHOD.test(word));
  return ['writes', 'mails', 'deletes'].includes(COMMAND_EFFECTS[id] ?? '');
}

/** Returns the error for a failed stdout. It includes how the command ended. */
export function lostOutput(lost: OutputError, ending: unknown): OutputError {
  if (!(ending instanceof EsignError) || ending instanceof OutputError) return lost;
  const hint = [ending.hint, lost.hint].filter((text) => text !== undefined).join('\n');
  const facts = { cause: ending, ...(hint === '' ? {} : { hint }) };
  return new OutputError(lost.code, `${sentenceOf(lost)} ${ending.message}`, facts);
}

function closedByReader(error: unknown, hint: string | undefined): OutputError {
  return new OutputError(
    'OUTPUT_CLOSED',
    'stdout was closed. Nothing more was started; the remaining results are on stderr.',
    { cause: error, ...(hint === undefined ? {} : { hint }) },
  );
}
