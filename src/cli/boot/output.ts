import { setImmediate } from 'node:timers/promises';
import { EsignError, OutputError, sentenceOf } from '../../kernel/errors.ts';
import { COMMAND_EFFECTS } from '../../kernel/vocabulary.ts';
import { cannotWrite, isClosedPipe, results } from '../../output/terminal.ts';
import { EXIT } from '../exit-codes.ts';
import { signals } from './process.ts';

/** What a closed stdout means: the reader has enough, results can be reported elsewhere, or a server has failed. */
type WhenClosed = 'exit' | 'stop' | 'fail';

/** The state of stdout: why it can't be written any more, and what its end means for the running command. */
export const output: { lost: OutputError | undefined; whenClosed: WhenClosed } = {
  lost: undefined,
  whenClosed: 'exit',
};

const WRITING_METHOD = /^(post|put|patch|delete)$/i;

/**
 * Prepares stdout for a command, by its id and the words after it. Of a command that changes something, results that
 * stdout does not take go to stderr: nothing that was done is lost.
 */
export function prepareOutput(id: string, words: readonly string[]): void {
  output.whenClosed = whenClosed(id, words);
  if (output.whenClosed === 'stop') results.undelivered = (text) => process.stderr.write(text);
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

/**
 * Ends a command that only reads, silently, when the reader of stdout is gone (`| head -1`). Any other command, and any
 * other failure of stdout, stops cleanly as after SIGTERM and is reported at the end. What stderr does not take is
 * dropped. To be called again whenever oclif was loaded: it has a listener of its own, which throws.
 */
export function watchOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error');
  process.stderr.on('error', () => undefined);
  process.stdout.on('error', (error) => {
    const isClosed = isClosedPipe(error);
    if (isClosed && output.whenClosed === 'exit') process.exit(EXIT.ok);
    output.lost ??= isClosed && output.whenClosed === 'stop' ? closedByReader(error) : cannotWrite(error);
    signals.stop(output.lost);
  });
}

/** Resolves when stdout has taken everything or has failed to. */
export async function outputTaken(): Promise<void> {
  const { stdout } = process;
  if (stdout.writableLength > 0) await new Promise((resolve) => stdout.write('', resolve));
  // The error of a write comes a moment after it.
  await setImmediate();
}

/** The loss of stdout, and how the command ended because of it. */
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
