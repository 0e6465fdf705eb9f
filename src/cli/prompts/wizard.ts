import { input, search, select } from '@inquirer/prompts';
import { Keyboard, type KeyboardOptions, pasteAsOneLine } from './keyboard.ts';
import { PromptScreen, rowsOf } from './screen.ts';
import { calmTheme, type Paint } from './theme.ts';
import { forgetTypedAhead } from './typed.ts';

/** The answer of somebody who wants to go back to the question before. */
export const BACK = Symbol('back');
export type Back = typeof BACK;

export interface Choice<T> {
  value: T;
  /** One line. */
  name: string;
  /** What is shown once it is chosen; the name when absent. */
  short?: string;
  description?: string;
}

export interface LineOptions {
  /** What is in the line at first. */
  first?: string | undefined;
  onPaste?: KeyboardOptions['onPaste'] | undefined;
  /** What is shown in place of the line as it is. */
  show?: ((line: string) => string) | undefined;
  /** Why the line can't be taken; undefined when it can. */
  refuse?: ((line: string) => string | undefined) | undefined;
}

interface Context {
  input: Keyboard;
  output: PromptScreen;
  signal: AbortSignal;
  readonly clearPromptOnDone: boolean;
}

const KEYS = '↑↓ move  ⏎ choose  Esc back';

/** Questions that follow one another. Escape takes a question off the screen; its answer is BACK. */
export class Conversation {
  /** The lines that each answered question left on the screen. */
  readonly #answered: (readonly string[])[] = [];
  readonly #paint: Paint;

  constructor(paint: Paint) {
    this.#paint = paint;
  }

  /** How many questions were answered; the place to rewind to. */
  get length(): number {
    return this.#answered.length;
  }

  /** Takes the answers from this place on off the screen. */
  rewind(length: number): void {
    const rows = rowsOf(this.#answered.splice(length).flat(), process.stderr.columns || 80);
    if (rows > 0) process.stderr.write(`\u001b[${rows}A\r\u001b[J`);
  }

  /** Before a question that must not be answered by what was typed for an earlier one. What was answered so far stays on the screen. */
  async begin(): Promise<void> {
    this.#answered.length = 0;
    await forgetTypedAhead();
  }

  /** One of several. */
  async pick<T>(message: string, choices: readonly Choice<T>[], first?: T): Promise<T | Back> {
    const start = first === undefined ? {} : { default: first };
    return this.#ask((context) =>
      select(
        { message, choices, pageSize: 9, loop: false, theme: calmTheme(KEYS, this.#paint), ...start },
        context,
      ),
    );
  }

  /** One of those that fit what is typed. `hint` says what to do when nothing fits. */
  async search<T>(
    message: string,
    choicesFor: (typed: string) => Choice<T>[],
    hint: (typed: string) => string,
  ): Promise<T | Back> {
    const calm = calmTheme(KEYS, this.#paint);
    let typed = '';
    const source = (term: string | undefined) => {
      typed = term?.trim() ?? '';
      return choicesFor(typed);
    };
    const style = { ...calm.style, error: () => calm.style.help(hint(typed)) };
    return this.#ask((context) => search({ message, source, pageSize: 7, theme: { style } }, context));
  }

  /** A line of text, possibly empty. */
  async line(message: string, options: LineOptions = {}): Promise<string | Back> {
    const { first, onPaste, refuse, show } = options;
    const config = {
      message,
      theme: calmTheme(KEYS, this.#paint),
      validate: (line: string) => refuse?.(line) ?? true,
      ...(first ? ({ default: first, prefill: 'editable' } as const) : {}),
      ...(show === undefined ? {} : { transformer: show }),
    };
    return this.#ask((context) => input(config, context), onPaste);
  }

  async #ask<T>(
    question: (context: Context) => Promise<T>,
    onPaste: KeyboardOptions['onPaste'] = pasteAsOneLine,
  ): Promise<T | Back> {
    const back = new AbortController();
    const keys = new Keyboard({ onPaste, onEscape: () => back.abort() });
    const output = new PromptScreen(this.#paint);
    const { signal } = back;
    try {
      const answer = await question({
        input: keys,
        output,
        signal,
        get clearPromptOnDone() {
          return signal.aborted;
        },
      });
      this.#answered.push(output.lines);
      return answer;
    } catch (error) {
      if (signal.aborted) return BACK;
      throw error;
    } finally {
      keys.close();
    }
  }
}
