import { counted, durationInWords } from '../kernel/duration.ts';
import { NoApiError } from '../kernel/errors.ts';
import { isOutage } from '../kernel/request-failures.ts';
import { rebuildCommand } from './rebuild-command.ts';
import type { Observations } from './session/seen-data.ts';

/** The command line that failed, and what it read before. */
export interface FailedCommand {
  /** The command's name, such as `envelopes get`; empty if it is unknown. */
  name: string;
  /** The arguments after `esign`. */
  words: readonly string[];
  observations: Observations;
}

/** Returns a hint that depends on the command line: how to run it at the right base URL, or what is known without the service. */
export async function adviceFor(error: unknown, failed: FailedCommand): Promise<string | undefined> {
  if (error instanceof NoApiError) return atLikelyUrl(error, failed);
  return isOutage(error) ? fromIndex(failed) : undefined;
}

function atLikelyUrl({ likely }: NoApiError, { words }: FailedCommand): string | undefined {
  if (likely === undefined) return undefined;
  const others = words.filter((word, at) => !word.startsWith('--base-url') && words[at - 1] !== '--base-url');
  return `Try \`${rebuildCommand(others, { add: ['--base-url', likely] })}\`.`;
}

async function fromIndex(failed: FailedCommand): Promise<string | undefined> {
  const { index } = failed.observations;
  const cached = cachedCommand(failed);
  if (index === undefined || cached === undefined) return undefined;
  const { readIndex } = await import('../catalog/index/read-index.ts');
  const { known, completeness } = await readIndex(index.store).catch(() => NOTHING);
  if (known.size === 0) return undefined;
  const age =
    completeness === undefined ? '' : `, ${durationInWords(Date.now() - completeness.complete)} old`;
  return `This machine has ${counted(known.size, 'envelope')} in its index${age}. Without the service, run \`${cached}\`.`;
}

const NOTHING = { known: new Map<string, unknown>(), completeness: undefined };

/** Returns the command that answers from the index, if there is one. */
function cachedCommand({ name, words }: FailedCommand): string | undefined {
  if (name === 'find')
    return rebuildCommand(
      words.filter((word) => word !== '--refresh'),
      { add: ['--cached'] },
    );
  const ids = words.slice(2).filter((word) => !word.startsWith('-'));
  return name === 'envelopes get' && ids.length === 1
    ? rebuildCommand(['find', ...ids, '--cached'])
    : undefined;
}
