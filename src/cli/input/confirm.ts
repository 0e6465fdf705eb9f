import { countedPeople } from '../../kernel/duration.ts';
import { UsageError } from '../../kernel/errors.ts';
import { comparableSigner } from '../../kernel/text/email-address.ts';
import { accountInWords } from '../../settings/account-in-words.ts';
import type { Context } from '../session/context.ts';
import type { CommandTerminal } from '../terminal.ts';

export interface ConfirmationOptions {
  /** Set by `--yes`: skips the question. */
  yes: boolean | undefined;
  /** The consequence of answering no, such as `nothing was sent`. */
  otherwise: string;
  /** Whether stdin was used for something else, such as ids. */
  fromStdin?: boolean;
}

/**
 * Returns true if the user can be asked on stdin, or on the controlling terminal if stdin was used for something else. With --json,
 * stderr is for programs.
 */
export function canAsk(terminal: CommandTerminal, fromStdin = false): boolean {
  return !terminal.json && (fromStdin ? terminal.canAskPastStdin : terminal.canAsk);
}

/**
 * Returns a question that names the account: `Send 3 envelopes to 5 people (acme, api.example.com)?`. Every question before something
 * is emailed or canceled is made here, because the wrong account is the most expensive mistake.
 */
export async function questionAbout(what: string, { session }: Pick<Context, 'session'>): Promise<string> {
  return `${what} (${accountInWords(await session.settings())})?`;
}

/** Returns how many people have these addresses: `5 people`. */
export function peopleAt(addresses: Iterable<string | null | undefined>): string {
  return countedPeople(new Set([...addresses].map((one) => one && comparableSigner(one))).size);
}

/**
 * Asks for confirmation before something that can't be undone.
 * @throws UsageError if the answer is no, or if questions can't be asked and --yes is not given.
 */
export async function requireConfirmation(
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
