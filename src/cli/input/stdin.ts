import { UsageError } from '../../kernel/errors.ts';

let reader: string | undefined;

/**
 * stdin, for the one input that reads it; `what` names that input.
 * @throws UsageError when another input has read it: the second would get nothing.
 */
export function takeStdin(what: string): NodeJS.ReadStream {
  if (reader !== undefined) {
    throw new UsageError(`Only one input can be read from stdin: the ${reader} or the ${what}.`, {
      hint: 'Read the other one from a file. Nothing was sent.',
    });
  }
  reader = what;
  return process.stdin;
}
