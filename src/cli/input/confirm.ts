import { UsageError } from '../../kernel/errors.ts';
import type { Terminal } from '../../output/terminal.ts';
import type { Context } from '../../session/context.ts';

export interface ConfirmationOptions {
  /** Set by `--yes`: skips the question. */
  yes: boolean | undefined;
  /** The consequence of answering no, such as `nothing was sent`. */
  otherwise: string;
  /** Whether stdin was used for something else, such as ids. */
  fromStdin?: boolean;
}

/** Returns true if the user can be asked on stdin, or on the controlling terminal if stdin was used for something else. */
export function canAsk(terminal: Terminal, fromStdin = false): boolean {
  return fromStdin ? terminal.canAskPastStdin : terminal.canAsk;
}

/**
 * Asks for confirmation before something that can't be undone.
 * @throws UsageError if the answer is no, or if questions can't be asked and --yes is not given.
 */
export async function confirmed(
  question: string,
  { yes, otherwise, fromStdin }: ConfirmationOptions,
  { terminal }: Pick<Context, 'terminal'>,
): Promise<void> {
  if (yes === true) return;
  if (!canAsk(terminal, fromStdin)) {
    const so = `${otherwise.charAt(0).toUpperCase()}${otherwise.slice(1)}`;
    throw new UsageError(`${question} This needs confirmation, but no terminal is available.`, {
      hint: `Add --yes to the command. ${so}.`,
    });
  }
  const { askYesOrNo } = await import('../prompts.ts');
  if (!(await askYesOrNo(question))) throw new UsageError(`Not confirmed; ${otherwise}.`);
}
