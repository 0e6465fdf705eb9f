import { input, password, search, select, confirm as yesOrNo } from '@inquirer/prompts';
import { Keyboard, type PastedLineBreak } from './keyboard.ts';

/*
 * Asks the user questions, on stderr. Import this module only when something is asked, because it loads the prompt library.
 * Ask only if `terminal.canAsk` is true.
 */

export interface Choice<T> {
  value: T;
  /** A single line. */
  name: string;
  /** The text shown after it was chosen (default: the name). */
  short?: string;
  description?: string;
}

/** A series of questions. Close it after the last answer. */
export class Conversation {
  readonly #keyboard = new Keyboard();

  close(): void {
    this.#keyboard.close();
  }

  /** Asks to choose one of several items. `first` is preselected. */
  pick<T>(message: string, choices: readonly Choice<T>[], first?: T): Promise<T> {
    const start = first === undefined ? {} : { default: first };
    return select({ message, choices, pageSize: 9, loop: false, ...start }, this.#context());
  }

  /** Asks to choose, for a decision that must not be made by keys typed ahead. */
  async decide<T>(message: string, choices: readonly Choice<T>[]): Promise<T> {
    await this.#keyboard.discardTypedAhead();
    return this.pick(message, choices);
  }

  /** Asks to choose one of the items that match the typed text. `hint` is shown if nothing matches. */
  search<T>(
    message: string,
    choicesFor: (typed: string) => Choice<T>[],
    hint: (typed: string) => string,
  ): Promise<T> {
    let typed = '';
    const source = (term: string | undefined) => {
      typed = term?.trim() ?? '';
      return choicesFor(typed);
    };
    const theme = { style: { error: () => hint(typed) } };
    return search({ message, source, pageSize: 7, theme }, this.#context());
  }

  /** Asks for a line of text, which may be empty. `first` is the initial text. */
  line(message: string, first?: string, lineBreak?: PastedLineBreak): Promise<string> {
    const start = first ? ({ default: first, prefill: 'editable' } as const) : {};
    return input({ message, ...start }, this.#context(lineBreak));
  }

  /** Asks yes or no. The default is no, and text that was pasted or typed ahead is not an answer. */
  async confirm(message: string): Promise<boolean> {
    await this.#keyboard.discardTypedAhead();
    return yesOrNo({ message, default: false }, this.#context('ignore'));
  }

  /** Asks for a secret, which is not displayed. */
  async secret(message: string): Promise<string> {
    return (await password({ message, mask: '•' }, this.#context())).trim();
  }

  #context(lineBreak: PastedLineBreak = ' ') {
    this.#keyboard.lineBreak = lineBreak;
    return { input: this.#keyboard, output: process.stderr };
  }
}

/** Asks a single question. */
export async function ask<T>(question: (conversation: Conversation) => Promise<T>): Promise<T> {
  const conversation = new Conversation();
  try {
    return await question(conversation);
  } finally {
    conversation.close();
  }
}
