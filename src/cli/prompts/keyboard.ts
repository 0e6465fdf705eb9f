import { PassThrough } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { waitingSign } from '../../output/waiting-sign.ts';

const PASTE_BEGINS = '\u001b[200~';
const PASTE_ENDS = '\u001b[201~';
const BRACKETED_PASTE = { on: '\u001b[?2004h', off: '\u001b[?2004l' };
const ESCAPE = '\u001b';
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
/** How long a lone Escape may turn out to be the beginning of another key. */
const ESCAPE_MS = 50;
/** An escape sequence, Alt with a key, or one character. */
const KEY = /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001bO[\s\S]|\u001b[\s\S]|[\s\S]/gu;

/** What a question does with keys beyond the library's. */
export interface KeyboardOptions {
  /** Told of the Escape key, which nothing else gets. */
  onEscape?: (() => void) | undefined;
  /** A pasted text as it goes into the line: on one line, without control characters. */
  onPaste(text: string): string;
}

/**
 * The person's keys, one at a time, while a question is asked. A pasted text comes as one key, so that its line breaks
 * answer no further question; keys that come in one piece never overtake what the one before them began.
 * Ctrl-D and the end of stdin are Ctrl-C.
 */
export class Keyboard extends PassThrough {
  readonly isTTY = true;
  readonly #options: KeyboardOptions;
  readonly #decoder = new StringDecoder('utf8');
  readonly #queue: (() => void)[] = [];
  #pasted: string | undefined;
  #rest = '';
  #timer: NodeJS.Timeout | undefined;
  #isOpen = true;
  readonly #release: () => void;

  constructor(options: KeyboardOptions) {
    super();
    this.#options = options;
    this.#release = waitingSign.hold();
    process.stdin.on('data', this.#onData).on('end', this.#onEnd);
    process.stderr.write(BRACKETED_PASTE.on);
    process.stdin.resume();
  }

  setRawMode(mode: boolean): this {
    process.stdin.setRawMode(mode);
    return this;
  }

  /** Gives stdin back. What was typed ahead is forgotten: it was meant for another question. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    clearTimeout(this.#timer);
    process.stdin.off('data', this.#onData).off('end', this.#onEnd);
    process.stdin.pause();
    process.stderr.write(BRACKETED_PASTE.off);
    this.#release();
    this.end();
  }

  readonly #onEnd = () => this.#key(CTRL_C);

  readonly #onData = (chunk: Buffer | string) => {
    clearTimeout(this.#timer);
    const text = this.#rest + (typeof chunk === 'string' ? chunk : this.#decoder.write(chunk));
    this.#rest = '';
    this.#read(text);
  };

  #read(text: string): void {
    if (this.#pasted !== undefined) {
      this.#readPasted(text);
      return;
    }
    const begins = text.indexOf(PASTE_BEGINS);
    if (begins >= 0) {
      this.#readTyped(text.slice(0, begins));
      this.#pasted = '';
      this.#readPasted(text.slice(begins + PASTE_BEGINS.length));
      return;
    }
    const kept = beginningAtTheEnd(text, PASTE_BEGINS);
    this.#rest = text.slice(text.length - kept);
    this.#readTyped(text.slice(0, text.length - kept));
    if (this.#rest === ESCAPE) this.#timer = setTimeout(() => this.#escapeKey(), ESCAPE_MS);
  }

  #readPasted(text: string): void {
    const all = `${this.#pasted ?? ''}${text}`;
    const ends = all.indexOf(PASTE_ENDS);
    if (ends < 0) {
      this.#pasted = all;
      return;
    }
    this.#pasted = undefined;
    this.#paste(all.slice(0, ends));
    this.#read(all.slice(ends + PASTE_ENDS.length));
  }

  #readTyped(text: string): void {
    // A terminal without bracketed paste: nobody types several lines at once.
    if (/[\r\n][^\r\n\u001b\u0003]/.test(text)) {
      this.#paste(text);
      return;
    }
    for (const [key] of text.matchAll(KEY)) {
      if (key === `${ESCAPE}\r` || key === `${ESCAPE}\n`) this.#paste('\n');
      else this.#key(key === CTRL_D ? CTRL_C : key);
    }
  }

  #escapeKey(): void {
    this.#rest = '';
    if (this.#isOpen) this.#options.onEscape?.();
  }

  #key(key: string): void {
    this.#then(() => this.push(key));
  }

  #paste(text: string): void {
    const line = this.#options.onPaste(text);
    if (line === '') return;
    this.#then(() =>
      this.emit('keypress', line, { name: 'paste', sequence: line, ctrl: false, meta: false, shift: false }),
    );
  }

  /** One after the other, with room between for what a key has begun. */
  #then(step: () => void): void {
    this.#queue.push(step);
    if (this.#queue.length === 1) setImmediate(() => this.#next());
  }

  #next(): void {
    if (!this.#isOpen) return;
    this.#queue[0]?.();
    this.#queue.shift();
    if (this.#queue.length > 0) setImmediate(() => this.#next());
  }
}

/** How long what was typed so far takes to arrive. */
const ARRIVAL_MS = 30;

/**
 * Reads and drops what was typed before now.
 * @throws ExitPromptError, as the prompt library does, when Ctrl-C was among it.
 */
export async function forgetTypedAhead(): Promise<void> {
  const { stdin } = process;
  const typed: string[] = [];
  const drop = (chunk: Buffer | string) => typed.push(String(chunk));
  stdin.setRawMode(true);
  stdin.on('data', drop).resume();
  await new Promise((resolve) => setTimeout(resolve, ARRIVAL_MS));
  stdin.off('data', drop).pause();
  stdin.setRawMode(false);
  if (/[\u0003\u0004]/.test(typed.join('')))
    throw Object.assign(new Error('Ctrl-C was typed ahead'), { name: 'ExitPromptError' });
}

/** How many characters at the end of the text may be the beginning of the sequence. */
function beginningAtTheEnd(text: string, sequence: string): number {
  for (let length = Math.min(sequence.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(sequence.slice(0, length))) return length;
  }
  return 0;
}

const CONTROLS = /\p{Cc}+/gu;

/** Pasted text for a question with one line: line breaks and tabs are blanks, other controls are gone. */
export function pasteAsOneLine(text: string): string {
  return text
    .trim()
    .replace(/[\r\n\t]+/g, ' ')
    .replace(CONTROLS, '');
}
