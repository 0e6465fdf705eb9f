import { Transform, type TransformCallback } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { setImmediate } from 'node:timers/promises';
import { isatty, ReadStream } from 'node:tty';
import { input, password, search, select, confirm as yesOrNo } from '@inquirer/prompts';
import { ctrlCPressed } from '../../kernel/errors.ts';
import { openControllingTerminal } from '../../kernel/process/controlling-terminal.ts';
import { waitingIndicator } from '../../output/waiting-indicator.ts';

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
export class PromptSession {
  readonly #keyboard = new Keyboard();

  close(): void {
    this.#keyboard.close();
  }

  /** Asks to choose one of several items. `first` is preselected. */
  pick<T>(message: string, choices: readonly Choice<T>[], first?: T): Promise<T> {
    const start = first === undefined ? {} : { default: first };
    return select({ message, choices, pageSize: 9, loop: false, ...start }, this.#context());
  }

  /** Asks for a choice. Keys typed ahead are ignored, so that they can't make the decision. */
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

export async function ask<T>(question: (conversation: PromptSession) => Promise<T>): Promise<T> {
  const conversation = new PromptSession();
  try {
    return await question(conversation);
  } finally {
    conversation.close();
  }
}

const PASTE_BEGINS = '\u001b[200~';
const PASTE = /\u001b\[200~([\s\S]*?)\u001b\[201~/g;
const BRACKETED_PASTE = { on: '\u001b[?2004h', off: '\u001b[?2004l' };
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const CONTROLS = /\p{Cc}+/gu;
/** The maximum number of event loop turns that the prompt library needs to process a line or end a question. */
const TURNS = 12;
/** How long text that has already been typed or pasted may take to arrive. */
const ARRIVAL_MS = 30;

/** The replacement for a line break in pasted text: a space or a visible sign. With `ignore`, all pasted text is dropped. */
type PastedLineBreak = ' ' | '⏎' | 'ignore';

/**
 * The keyboard input for all questions of a conversation. Pasted text is joined into one line, so that its line breaks don't answer
 * questions. Ctrl-D and the end of input act like Ctrl-C.
 */
class Keyboard extends Transform {
  readonly isTTY = true;
  lineBreak: PastedLineBreak = ' ';
  readonly #source: ReadStream;
  readonly #showWaiting: () => void;
  readonly #decoder = new StringDecoder('utf8');
  #pending = '';

  constructor() {
    super();
    this.#source = openSource();
    this.#showWaiting = waitingIndicator.hold();
    this.#source.setRawMode(true);
    this.#source.pipe(this, { end: false });
    this.#source.once('end', this.#onEnd);
    process.stderr.write(BRACKETED_PASTE.on);
  }

  /** Does nothing when the prompt library calls it. Raw mode lasts for the whole conversation, so that keys are never echoed. */
  setRawMode(_mode: boolean): this {
    return this;
  }

  /**
   * Discards everything typed so far, before a question that must not be answered by accident.
   * @throws ExitPromptError, like the prompt library, if it includes Ctrl-C.
   */
  async discardTypedAhead(): Promise<void> {
    let typed = '';
    const onData = (chunk: Buffer) => {
      typed += String(chunk);
    };
    this.on('data', onData).resume();
    await new Promise((resolve) => setTimeout(resolve, ARRIVAL_MS));
    this.off('data', onData).pause();
    if (typed.includes(CTRL_C)) throw ctrlCPressed();
  }

  /** Restores the earlier state of stdin. */
  close(): void {
    const source = this.#source;
    source.unpipe(this).off('end', this.#onEnd).pause();
    source.setRawMode(false);
    if (source !== process.stdin) source.destroy();
    process.stderr.write(BRACKETED_PASTE.off);
    this.#showWaiting();
    this.destroy();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const text = (this.#pending + this.#decoder.write(chunk)).replace(PASTE, (_, pasted: string) =>
      this.#joinLines(pasted),
    );
    const unfinished = text.indexOf(PASTE_BEGINS);
    this.#pending = unfinished < 0 ? '' : text.slice(unfinished);
    const keys = (unfinished < 0 ? text : text.slice(0, unfinished)).replaceAll(CTRL_D, CTRL_C);
    void this.#emit(keys.match(/[\r\n]|[^\r\n]+/g) ?? []).then(() => done(), done);
  }

  /** Passes keys on. Enter is passed separately: the library has to search first, and later keys belong to the next question. */
  async #emit(parts: readonly string[]): Promise<void> {
    for (const [index, part] of parts.entries()) {
      for (let turn = 0; index > 0 && turn < TURNS; turn++) await setImmediate();
      this.push(part);
    }
  }

  #joinLines(pasted: string): string {
    if (this.lineBreak === 'ignore') return '';
    return pasted
      .trim()
      .replace(/\r\n?|\n/g, this.lineBreak)
      .replaceAll('\t', ' ')
      .replace(CONTROLS, '');
  }

  readonly #onEnd = () => {
    this.push(CTRL_C);
  };
}

/** Returns stdin, or the controlling terminal if stdin is a pipe or was read to its end. */
function openSource(): ReadStream {
  const isFree = isatty(0) && !process.stdin.readableEnded;
  return isFree ? process.stdin : new ReadStream(openControllingTerminal());
}
