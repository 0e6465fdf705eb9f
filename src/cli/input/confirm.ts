import { UsageError } from '../../kernel/errors.ts';
import type { Context } from '../context.ts';
import { confirm } from '../prompts/prompts.ts';

export interface Confirmation {
  /** Given as `--yes`: nobody is asked. */
  yes: boolean | undefined;
  /** What did not happen when the answer is no, such as `nothing was sent`. */
  otherwise: string;
}

/**
 * Asks before something that cannot be taken back.
 * @throws UsageError when the answer is no, or when there is nobody to ask and --yes is not given.
 */
export async function confirmed(
  question: string,
  { yes, otherwise }: Confirmation,
  { terminal }: Pick<Context, 'terminal'>,
): Promise<void> {
  if (yes === true) return;
  if (!terminal.canAsk) {
    const so = `${otherwise.charAt(0).toUpperCase()}${otherwise.slice(1)}`;
    throw new UsageError(`${question} There is nobody to ask, and --yes is not given.`, {
      hint: `Add --yes to the command. ${so}.`,
    });
  }
  if (!(await confirm(question))) throw new UsageError(`Not confirmed; ${otherwise}.`);
}
