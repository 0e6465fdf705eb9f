import { truncate } from './text.ts';

/** How a wait is shown. */
export interface Sign {
  text: string;
  /** An animated line that is removed; otherwise a line that is printed once. */
  moves: boolean;
  /** Drawn immediately, because the work blocks later drawing. */
  atOnce?: boolean | undefined;
  paint: (text: string) => string;
}

/** Shorter waits are not shown, in ms. */
const PATIENCE_MS = 400;
/** Longer waits show their duration, in ms. */
const COUNTED_MS = 3_000;
const TICK_MS = 100;
/** Requests closer together than this are one wait, in ms. */
const GAP_MS = 300;
const FRAMES = [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'];

type Stream = Pick<NodeJS.WriteStream, 'write' | 'columns'>;

/**
 * Shows on the last line of stderr what the command waits for. It appears when nothing else is shown and nothing was written
 * for a moment. Everything that writes to the screen removes it first.
 */
class WaitingSign {
  readonly #stream: () => Stream;
  /** Current waits, the latest last. */
  readonly #waits = new Set<Sign>();
  readonly #said = new Set<string>();
  /** How many others show something else. */
  #held = 0;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;
  #end: NodeJS.Timeout | undefined;
  #last: Sign | undefined;
  #isShown = false;
  #isAtLineStart = true;
  #frame = 0;

  /** `stream` is called only when something is drawn. */
  constructor(stream: () => Stream) {
    this.#stream = stream;
  }

  /** Begins a wait. Call the returned function to end it. */
  begin(sign: Sign): () => void {
    clearTimeout(this.#end);
    this.#waits.add(sign);
    this.#last = sign;
    if (this.#timer === undefined) {
      this.#since = performance.now();
      this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
    }
    if (sign.atOnce) this.#tick(0);
    return () => {
      this.#waits.delete(sign);
      this.#last = [...this.#waits].at(-1) ?? sign;
      if (this.#waits.size === 0) this.#end = setTimeout(() => this.#stop(), GAP_MS).unref();
    };
  }

  /** Removes the line before something else is written; `text` is that text if it goes to the screen. */
  gone(text?: string | Uint8Array): void {
    this.#erase();
    this.#restart();
    if (text !== undefined && text.length > 0)
      this.#isAtLineStart = typeof text === 'string' ? text.endsWith('\n') : text.at(-1) === 10;
  }

  /** Hides the line until the returned function is called. */
  hold(): () => void {
    this.gone();
    this.#held++;
    let isHeld = true;
    return () => {
      if (isHeld) this.#held--;
      isHeld = false;
      this.#restart();
    };
  }

  /** Without a wait, the time is not read: Node would load a module for it. */
  #restart(): void {
    if (this.#timer !== undefined) this.#since = performance.now();
  }

  #tick(from = PATIENCE_MS): void {
    const sign = this.#last;
    const ms = performance.now() - this.#since;
    // An unfinished line would be erased with it.
    if (sign === undefined || ms < from || this.#held > 0 || !this.#isAtLineStart) return;
    if (sign.moves) this.#draw(sign, ms);
    else this.#say(sign.text);
  }

  #draw(sign: Sign, ms: number): void {
    const counted = ms < COUNTED_MS ? '' : ` … ${Math.floor(ms / 1_000)} s`;
    const room = Math.max(1, (this.#stream().columns || 80) - 3);
    const text = truncate(`${sign.text}${counted}`, room);
    this.#isShown = true;
    this.#stream().write(`\r\u001b[2K${sign.paint(FRAMES[this.#frame++ % FRAMES.length] ?? '')} ${text}`);
  }

  #say(text: string): void {
    if (this.#said.has(text)) return;
    this.#said.add(text);
    this.#stream().write(`${text}.\n`);
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#erase();
  }

  #erase(): void {
    if (this.#isShown) this.#stream().write('\r\u001b[2K');
    this.#isShown = false;
  }
}

/** One per process, because there is one screen. */
export const waitingSign = new WaitingSign(() => process.stderr);
