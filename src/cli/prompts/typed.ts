import { StringDecoder } from 'node:string_decoder';
import { isatty, ReadStream } from 'node:tty';
import { openControllingTerminal } from '../../kernel/process/controlling-terminal.ts';

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
/** Terminals that do not mark what is pasted. */
const UNMARKED_PASTE = /^(dumb|linux|vt\d+|cons25|ansi)/;

/** A key, a pasted text, or the Escape key alone. */
export type Typed = { kind: 'key'; key: string } | { kind: 'paste'; text: string } | { kind: 'escape' };

/**
 * What the person types, kept until a question takes it: keys that come between two questions wait for the next one. A
 * pasted text is one item, whatever lines it has. Ctrl-D and the end of stdin are Ctrl-C.
 */
class TypedAhead {
  readonly #items: Typed[] = [];
  readonly #decoder = new StringDecoder('utf8');
  #pasted: string | undefined;
  #rest = '';
  #timer: NodeJS.Timeout | undefined;
  /** Told that there is something to take. */
  #taker: (() => void) | undefined;
  /** Where the keys come from while questions are asked. */
  #keys: ReadStream | undefined;
  /** What the one question asked for, not yet undone, lest a key between two is echoed by the terminal. */
  #release: NodeJS.Immediate | undefined;

  /** A question begins; `wake` is called whenever something comes. */
  open(wake: () => void): void {
    if (this.#release !== undefined) clearImmediate(this.#release);
    this.#release = undefined;
    this.#taker = wake;
    if (this.#keys === undefined) {
      this.#keys = openKeys().on('data', this.#onData).on('end', this.#onEnd);
      process.stderr.write(BRACKETED_PASTE.on);
    }
    this.#keys.setRawMode(true);
    this.#keys.resume();
    if (this.#items.length > 0) setImmediate(wake);
  }

  /** The question is over. stdin is given back unless another one follows at once. */
  close(): void {
    this.#taker = undefined;
    this.#release = setImmediate(() => this.#giveBack());
  }

  take(): Typed | undefined {
    return this.#items.shift();
  }

  /** Drops what was typed until now; true when Ctrl-C was among it. */
  forget(): boolean {
    const dropped = this.#items.splice(0);
    return dropped.some((one) => one.kind === 'key' && one.key === CTRL_C);
  }

  #giveBack(): void {
    this.#release = undefined;
    const keys = this.#keys;
    this.#keys = undefined;
    keys?.off('data', this.#onData).off('end', this.#onEnd).pause().setRawMode(false);
    if (keys !== process.stdin) keys?.destroy();
    process.stderr.write(BRACKETED_PASTE.off);
  }

  readonly #onEnd = () => this.#add({ kind: 'key', key: CTRL_C });

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
      this.#readKeys(text.slice(0, begins));
      this.#pasted = '';
      this.#readPasted(text.slice(begins + PASTE_BEGINS.length));
      return;
    }
    const kept = beginningAtTheEnd(text, PASTE_BEGINS);
    this.#rest = text.slice(text.length - kept);
    this.#readKeys(text.slice(0, text.length - kept));
    if (this.#rest === ESCAPE)
      this.#timer = setTimeout(() => {
        this.#rest = '';
        this.#add({ kind: 'escape' });
      }, ESCAPE_MS);
  }

  #readPasted(text: string): void {
    const all = `${this.#pasted ?? ''}${text}`;
    const ends = all.indexOf(PASTE_ENDS);
    this.#pasted = ends < 0 ? all : undefined;
    if (ends < 0) return;
    this.#add({ kind: 'paste', text: all.slice(0, ends) });
    this.#read(all.slice(ends + PASTE_ENDS.length));
  }

  #readKeys(text: string): void {
    // Several lines at once are a paste there; elsewhere they are keys that a slow line brought together.
    if (UNMARKED_PASTE.test(process.env.TERM ?? '') && /[\r\n][^\r\n\u001b\u0003]/.test(text)) {
      this.#add({ kind: 'paste', text });
      return;
    }
    for (const [key] of text.matchAll(KEY)) {
      if (key === `${ESCAPE}\r` || key === `${ESCAPE}\n`) this.#add({ kind: 'paste', text: '\n' });
      else this.#add({ kind: 'key', key: key === CTRL_D ? CTRL_C : key });
    }
  }

  #add(item: Typed): void {
    this.#items.push(item);
    this.#taker?.();
  }
}

/** Returns stdin, or the controlling terminal where stdin is a pipe or was read to its end. */
function openKeys(): ReadStream {
  const isFree = isatty(0) && !process.stdin.readableEnded;
  return isFree ? process.stdin : new ReadStream(openControllingTerminal());
}

/** How many characters at the end of the text may be the beginning of the sequence. */
function beginningAtTheEnd(text: string, sequence: string): number {
  for (let length = Math.min(sequence.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(sequence.slice(0, length))) return length;
  }
  return 0;
}

/** There is one person at the terminal. */
export const typed = new TypedAhead();

/** How long what was typed so far takes to arrive. */
const ARRIVAL_MS = 30;

/**
 * Reads and drops what was typed before now.
 * @throws ExitPromptError, as the prompt library does, when Ctrl-C was among it.
 */
export async function forgetTypedAhead(): Promise<void> {
  typed.open(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, ARRIVAL_MS));
  const isStopped = typed.forget();
  typed.close();
  if (isStopped) throw Object.assign(new Error('Ctrl-C was typed ahead'), { name: 'ExitPromptError' });
}
