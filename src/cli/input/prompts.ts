import { isatty, ReadStream } from 'node:tty';
import { password, search, select, input as text, confirm as yesOrNo } from '@inquirer/prompts';
import { ctrlCPressed } from '../../kernel/errors.ts';
import { openControllingTerminal } from '../../kernel/process/controlling-terminal.ts';
import { waitingIndicator } from '../../output/waiting-indicator.ts';
import { askPlainChoice, askPlainText, askPlainYesOrNo } from './plain-prompts.ts';
import type { AskedChoice, PromptContext, TextQuestion } from './question.ts';

export type { AskedChoice } from './question.ts';

/*
 * Asks the user questions, on stderr. Import this module only when something is asked, because it loads the prompt library.
 * Ask only if `terminal.canAsk` is true.
 */

/** Whether nothing may be redrawn, as screen readers and braille displays need. */
function isAccessible(): boolean {
  return Boolean(process.env.ESIGN_ACCESSIBLE);
}

/** Asks to choose one of several items. `first` is preselected. */
export function askChoice<T>(message: string, choices: readonly AskedChoice<T>[], first?: T): Promise<T> {
  if (isAccessible()) return onKeyboard((context) => askPlainChoice(message, choices, first, context));
  const start = first === undefined ? {} : { default: first };
  return onKeyboard((context) => select({ message, choices, pageSize: 9, loop: false, ...start }, context));
}

/** Asks to choose one of the items that match the typed text. `hint` is shown if nothing matches. */
export function askFromList<T>(
  message: string,
  choicesFor: (typed: string) => AskedChoice<T>[],
  hint: string,
): Promise<T> {
  if (isAccessible())
    return onKeyboard((context) => askPlainChoice(message, choicesFor(''), undefined, context));
  const source = (term: string | undefined) => choicesFor(term?.trim() ?? '');
  const theme = { style: { error: () => hint } };
  return onKeyboard((context) => search({ message, source, pageSize: 7, theme }, context));
}

/** Asks for a line of text, which may be empty. */
export function askText(message: string, question: TextQuestion = {}): Promise<string> {
  if (isAccessible()) return onKeyboard((context) => askPlainText(message, question, context));
  const validate = (answer: string) => question.problemOf?.(answer) ?? true;
  return onKeyboard((context) => text({ message, validate }, context));
}

/** Asks yes or no. The default is no. */
export function askYesOrNo(message: string): Promise<boolean> {
  if (isAccessible()) return onKeyboard((context) => askPlainYesOrNo(message, context));
  return onKeyboard((context) => yesOrNo({ message, default: false }, context));
}

/** Asks for a secret, which is not displayed. */
export async function askSecret(message: string): Promise<string> {
  const mask = isAccessible() ? false : '•';
  return (await onKeyboard((context) => password({ message, mask }, context))).trim();
}

/**
 * Asks one question, on stdin, or on the controlling terminal if stdin is a pipe or was read to its end. Ctrl-D and the end of
 * input act like Ctrl-C, because the prompt library would wait forever.
 */
async function onKeyboard<T>(question: (context: PromptContext) => Promise<T>): Promise<T> {
  const isFree = isatty(0) && !process.stdin.readableEnded;
  const input = isFree ? process.stdin : new ReadStream(openControllingTerminal());
  const left = new AbortController();
  const leave = () => left.abort();
  const onKey = (_: unknown, key: { ctrl?: boolean; name?: string }) => {
    if (key.ctrl && key.name === 'd') leave();
  };
  const showWaiting = waitingIndicator.hold();
  input.on('end', leave).on('keypress', onKey);
  try {
    return await question({ input, output: process.stderr, signal: left.signal });
  } catch (error) {
    throw left.signal.aborted ? ctrlCPressed() : error;
  } finally {
    input.off('end', leave).off('keypress', onKey).pause();
    if (input !== process.stdin) input.destroy();
    showWaiting();
  }
}
