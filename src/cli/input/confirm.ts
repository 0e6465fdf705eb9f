import { UsageError } from '../../kernel/errors.ts';
import type { Terminal } from '../../output/terminal.ts';
import type { Context } from '../context.ts';

export interface Confirmation {
  /** Given as `--yes`: nobody is asked. */
  yes: boolean | undefined;
  /** What did not happen when the answer is no, such as `nothing was sent`. */
  otherwise: string;
  /** Whether stdin was read for something else, such as ids. */
  fromStdin?: boolean;
}

/** Returns whether there is somebody to ask: on stdin, or past it once it was read for something else. */
export function canAsk(terminal: Terminal, fromStdin = false): boolean {
  return fromStdin ? terminal.canAskPastStdin : terminal.canAsk;
}

/**
 * Asks before something that cannot be taken back.
 * @throws UsageError when the answer is no, or when there is nobody to ask and --yes is not given.
 */
export async function confirmed(
  question: string,
  { yes, otherwise, fromStdin }: Confirmation,
  { terminal }: Pick<Context, 'terminal'>,
): Promise<void> {
  if (yes === true) return;
  if (!canAsk(terminal, fromStdin)) {
    const so = `${otherwise.charAt(0).toUpperCase()}${otherwise.slice(1)}`;
    throw new UsageError(`${question} Confirmation is required, and no terminal is available to ask on.`, {
      hint: `Add --yes to the command. ${so}.`,
    });
  }
  const { ask } = await import('../prompts/prompts.ts');
  if (!(await ask((conversation) => conversation.confirm(question))))
    throw new UsageError(`Not confirmed; ${otherwise}.`);
}
