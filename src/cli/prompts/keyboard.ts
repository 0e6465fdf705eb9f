import { PassThrough } from 'node:stream';
import { waitingSign } from '../../output/waiting-sign.ts';
import { type Typed, typed } from './typed.ts';

/** What a question does with keys beyond the library's. */
export interface KeyboardOptions {
  /** Told of the Escape key, which nothing else gets. */
  onEscape?: (() => void) | undefined;
  /** A pasted text as it goes into the line: on one line, without control characters. */
  onPaste(text: string): string;
}

/** So many turns of the event loop the library takes at most to end a question that a key has answered. */
const TURNS_TO_ANSWER = 12;

/**
 * The person's keys, one at a time, while a question is asked. A pasted text comes as one key, so that its line breaks
 * answer no further question. Keys never overtake what the one before them began: what is behind the answer waits for the
 * next question.
 */
export class Keyboard extends PassThrough {
  readonly isTTY = true;
  readonly #options: KeyboardOptions;
  readonly #release: () => void;
  #isOpen = true;
  #isBusy = false;

  constructor(options: KeyboardOptions) {
    super();
    this.#options = options;
    this.#release = waitingSign.hold();
    typed.open(() => this.#wake());
  }

  /** What the library asks for; the mode is kept over all questions that follow one another. */
  setRawMode(_mode: boolean): this {
    return this;
  }

  /** Gives stdin back. What was typed and not taken waits for the next question. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    typed.close();
    this.#release();
    this.end();
  }

  #wake(): void {
    if (this.#isBusy) return;
    this.#isBusy = true;
    setImmediate(() => this.#next());
  }

  #next(): void {
    this.#isBusy = false;
    const item = this.#isOpen ? typed.take() : undefined;
    if (item === undefined) return;
    this.#isBusy = true;
    this.#give(item);
    this.#after(mayAnswer(item) ? TURNS_TO_ANSWER : 1);
  }

  /** Room for what the key has begun, in turns and not in time: a busy machine makes them longer, not more. */
  #after(turns: number): void {
    setImmediate(() => (turns > 1 && this.#isOpen ? this.#after(turns - 1) : this.#next()));
  }

  #give(item: Typed): void {
    if (item.kind === 'key') this.push(item.key);
    else if (item.kind === 'escape') this.#options.onEscape?.();
    else this.#paste(item.text);
  }

  #paste(text: string): void {
    const line = this.#options.onPaste(text);
    if (line === '') return;
    this.emit('keypress', line, { name: 'paste', sequence: line, ctrl: false, meta: false, shift: false });
  }
}

/** After these the question may be over. */
function mayAnswer(item: Typed): boolean {
  return item.kind === 'escape' || (item.kind === 'key' && /^[\r\n\u0003]$/.test(item.key));
}

const CONTROLS = /\p{Cc}+/gu;

/** Pasted text for a question with one line: line breaks and tabs are blanks, other controls are gone. */
export function pasteAsOneLine(text: string): string {
  return text
    .trim()
    .replace(/[\r\n\t]+/g, ' ')
    .replace(CONTROLS, '');
}
