import { setImmediate } from 'node:timers/promises';
import { EsignError, OutputError, sentenceOf } from '../../kernel/errors.ts';
import { COMMAND_EFFECTS } from '../../kernel/vocabulary.ts';
import { cannotWrite, isClosedPipe } from '../../output/terminal.ts';
import { EXIT } from '../exit-codes.ts';
import type { Interrupt } from '../interrupt.ts';

/** What a closed stdout means: the reader has enough, results can be reported elsewhere, or a server has failed. */
type WhenClosed = 'exit' | 'stop' | 'fail';

const WRITING_METHOD = /^(post|put|patch|delete)$/i;

/** stdout and stderr of one run: what a closed pipe or a full disk means for the command. */
export class StandardOutput {
  readonly #interrupt: Interrupt;
  #whenClosed: WhenClosed = 'exit';
  #lost: OutputError | undefined;

  constructor(interrupt: Interrupt) {
    this.#interrupt = interrupt;
  }

  /** Why stdout can't be written any more. */
  get lost(): OutputError | undefined {
    return this.#lost;
  }

  /** Receives the results that stdout does not take; undefined where they fail the command. */
  get undelivered(): ((text: string) => void) | undefined {
    return this.#whenClosed === 'stop' ? (text) => process.stderr.write(text) : undefined;
  }

  /**
   * Prepares stdout for a command, by its id and the words after it. Of a command that changes something, results that
   * stdout does not take go to stderr: nothing that was done is lost.
   */
  prepare(id: string, words: readonly string[]): void {
    this.#whenClosed = whenClosed(id, words);
  }

  /**
   * Ends a command that only reads, silently, when the reader of stdout is gone (`| head -1`). Any other command, and any
   * other failure of stdout, stops cleanly as after SIGTERM and is reported at the end. What stderr does not take is
   * dropped. Call it again after oclif was loaded, which adds a listener that throws.
   */
  watch(): void {
    for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error');
    process.stderr.on('error', () => undefined);
    process.stdout.on('error', (error) => {
      const isClosed = isClosedPipe(error);
      if (isClosed && this.#whenClosed === 'exit') process.exit(EXIT.ok);
      this.#lost ??= isClosed && this.#whenClosed === 'stop' ? closedByReader(error) : cannotWrite(error);
      this.#interrupt.stop(this.#lost);
    });
  }

  /** Resolves when stdout has taken everything or has failed to. */
  async taken(): Promise<void> {
    const { stdout } = process;
    if (stdout.writableLength > 0) await new Promise((resolve) => stdout.write('', resolve));
    // The error of a write comes a moment after it.
    await setImmediate();
  }
}

function whenClosed(id: string, words: readonly string[]): WhenClosed {
  if (id === 'listen') return 'fail';
  const effect = COMMAND_EFFECTS[id];
  const isRead =
    ['reads', 'local', undefined].includes(effect) ||
    words.includes('--dry-run') ||
    (id === 'api' && !words.some((word) => WRITING_METHOD.test(word)));
  return isRead ? 'exit' : 'stop';
}

/** Returns the error for a lost stdout, with how the command ended because of it. */
export function lostOutput(lost: OutputError, ending: unknown): OutputError {
  if (!(ending instanceof EsignError) || ending instanceof OutputError) return lost;
  const hint = [ending.hint, lost.hint].filter((text) => text !== undefined).join('\n');
  const facts = { cause: ending, ...(hint === '' ? {} : { hint }) };
  return new OutputError(lost.code, `${sentenceOf(lost)} ${ending.message}`, facts);
}

function closedByReader(error: unknown): OutputError {
  return new OutputError(
    'OUTPUT_CLOSED',
    'stdout was closed. Nothing was started after that; results it did not take are on stderr.',
    { cause: error },
  );
}
