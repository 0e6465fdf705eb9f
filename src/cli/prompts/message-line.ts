import { grouped } from '../../kernel/duration.ts';

/** A line break in a line of input; the sign that text.ts shows for one. */
const LINE_BREAK = '⏎';
/** Longer texts would not stay on the screen while they are edited. */
const LONG = 300;
const CONTROLS = /(?!\n)\p{Cc}+/gu;

/** A text of several lines in a question that has one: line breaks are a sign, and a long paste stands there by its length. */
export class MessageLine {
  readonly #held = new Map<string, string>();

  /** The text as the line has it. */
  lineOf(text: string): string {
    const clean = text.replace(/\r\n?/g, '\n').replaceAll('\t', ' ').replace(CONTROLS, '');
    return clean.length > LONG ? this.#hold(clean) : clean.replaceAll('\n', LINE_BREAK);
  }

  /** The line as the text it stands for. */
  textOf(line: string): string {
    let text = line;
    for (const [stand, held] of this.#held) text = text.replaceAll(stand, () => held);
    return text.replaceAll(LINE_BREAK, '\n').trim();
  }

  /** Why the line stands for no text; undefined when it does. */
  refuse(line: string): string | undefined {
    if (!/\[pasted text/.test(this.textOf(line))) return undefined;
    return 'The pasted text was changed here. Clear the line with Ctrl-U and paste it again.';
  }

  #hold(text: string): string {
    const number = this.#held.size === 0 ? '' : ` ${this.#held.size + 1}`;
    const stand = `[pasted text${number}, ${grouped(text.length)} characters]`;
    this.#held.set(stand, text);
    return stand;
  }
}
