import type { PlannedWrite } from '../../api/write-gate.ts';
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
  return `${what} (${await accountText(session)})?`;
}

/** Returns the account in words: the profile and the host, or the sandbox. */
export async function accountText(session: Pick<Context['session'], 'settings'>): Promise<string> {
  return accountInWords(await session.settings());
}

/** A question before writes. */
export interface WriteQuestion extends ConfirmationOptions {
  /** What is done, without the account: `Send 3 envelopes to 5 people`. */
  what: string;
  /** Shows above the question what it is about. */
  show?: () => void;
}

/**
 * Confirms the writes of a command: the guards may refuse them; then the user is asked, unless a guard asks for the account's name instead.
 * Without a question, only the guards decide. Returns true if the user was asked.
 * @throws GuardError if the profile doesn't allow a write; UsageError if the answer is no, or no terminal is available and --yes is not given.
 */
export async function confirmWrites(
  writes: readonly PlannedWrite[],
  question: WriteQuestion | undefined,
  context: Pick<Context, 'session' | 'terminal'>,
): Promise<boolean> {
  const permit = await (await context.session.client()).checkWrites(writes);
  const isAsked = question !== undefined && !question.yes && !permit.isConfirmed;
  if (isAsked) {
    question.show?.();
    const text = await questionAbout(question.what, context);
    if (permit.asksName) context.terminal.notice(text);
    else await requireConfirmation(text, question, context);
  }
  await permit.confirm();
  return isAsked;
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
  const { askYesOrNo } = await import('./prompts.ts');
  if (!(await askYesOrNo(question))) throw new UsageError(`Not confirmed; ${otherwise}.`);
}
