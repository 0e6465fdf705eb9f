import { codeOf, OutputError } from '../../kernel/errors.ts';
import { diskReason } from '../../kernel/files/disk-reason.ts';
import { EXIT } from '../exit-codes.ts';
import { signals } from './process.ts';

/** What became of stdout. */
export const output: { lost: OutputError | undefined } = { lost: undefined };

/**
 * `| head -1` has all it wants: stop at once and silently. Any other failure of stdout ends the work as Ctrl-C does, and is
 * told at the end; what stderr does not take can't be told at all. To be called again whenever oclif was loaded: it has a
 * listener of its own, which throws.
 */
export function watchOutput(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.removeAllListeners('error').on('error', (error) => {
      if (codeOf(error) === 'EPIPE') process.exit(EXIT.ok);
      if (stream === process.stderr) return;
      output.lost ??= new OutputError(diskReason(error), { cause: error });
      signals.stop(output.lost);
    });
}
