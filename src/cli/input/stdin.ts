import { UsageError } from '../../kernel/errors.ts';

let reader: string | undefined;

/**
 * Returns stdin for a single input, which `what` names.
 * @throws UsageError if another input has already read it.
 */
export function takeStdin(what: string): NodeJS.ReadStream {
  if (reader !== undefined) {
    throw new UsageError(`Only one input can be read from stdin: the ${reader} or the ${what}.`, {
      hint: 'Read one of them from a file. Nothing was sent.',
    });
  }
  reader = what;
  return process.stdin;
}
