import { truncate } from './text.ts';

export interface WaitLine {
  text: string;
  /** Whether the line is animated and later removed. Otherwise, it is printed once. */
  moves: boolean;
  /** Whether to draw the line immediately, because the work will block later drawing. */
  immediately?: boolean | undefined;
  paint: (text: string) => string;
}

/** Shorter waits are not shown. In ms. */
const DELAY_MS = 400;
/** Longer waits show their duration. In ms. */
const DURATION_AFTER_MS = 3_000;
const TICK_MS = 100;
/** Requests closer together than this count as a single wait. In ms. */
const GAP_MS = 300;
export const FRAMES = [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'];

type Stream = Pick<NodeJS.WriteStream, 'write' | 'columns'>;

/**
 * Shows what the command is waiting for on the last line of stderr. The line appears when nothing else is shown and nothing was
 * written for a moment. Everything that writes to the screen must remove it first.
 */
export class WaitingIndicator {
  readonly #stream: () => Stream;
  /** The current waits, latest last. */
  readonly #waits = new Set<WaitLine>();
  readonly #printed = new Set<string>();
  /** The number of other things that use the screen. The line is hidden while there are any. */
  #held = 0;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;
  #end: NodeJS.Timeout | undefined;
  #last: WaitLine | undefined;
  #isShown = false;
  #isAtLineStart = true;
  #frame = 0;

  /** `stream` is called only when something is drawn. */
  constructor(stream: () => Stream) {
    this.#stream = stream;
  }

  /** Starts a wait. Call the returned function to end it. */
  begin(sign: WaitLine): () => void {
    clearTimeout(this.#end);
    this.#waits.add(sign);
    // A moving line counts only its own kind of wait.
    if (sign.moves !== this.#last?.moves) this.#restart();
    this.#last = sign;
    if (this.#timer === undefined) {
      this.#since = performance.now();
      this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
    }
    if (sign.immediately) this.#tick(0);
    return () => {
      this.#waits.delete(sign);
      this.#last = [...this.#waits].at(-1) ?? sign;
      if (this.#waits.size === 0) this.#end = setTimeout(() => this.#stop(), GAP_MS).unref();
    };
  }

  /** Removes the line before something else is written. `text` is that text if it goes to the screen. */
  clear(text?: string | Uint8Array): void {
    this.#erase();
    this.#restart();
    if (text !== undefined && text.length > 0)
      this.#isAtLineStart = typeof text === 'string' ? text.endsWith('\n') : text.at(-1) === 10;
  }

  /** Hides the line until the returned function is called. */
  hold(): () => void {
    this.clear();
    this.#held++;
    let isHeld = true;
    return () => {
      if (isHeld) this.#held--;
      isHeld = false;
      this.#restart();
    };
  }

  /** Draws the line later if there is a wait. Otherwise, the time is not read, because Node would load a module for it. */
  #restart(): void {
    if (this.#timer !== undefined) this.#since = performance.now();
  }

  #tick(from = DELAY_MS): void {
    const sign = this.#last;
    const ms = performance.now() - this.#since;
    if (this.#waits.size === 0 && !this.#isShown) return;
    // An unfinished line of other output would be erased, too.
    if (sign === undefined || ms < from || this.#held > 0 || !this.#isAtLineStart) return;
    if (sign.moves) this.#draw(sign, ms);
    else if (this.#waits.size > 0) this.#print(sign.text);
  }

  #draw(sign: WaitLine, ms: number): void {
    const counted = ms < DURATION_AFTER_MS ? '' : ` … ${Math.floor(ms / 1_000)} s`;
    const room = Math.max(1, (this.#stream().columns || 80) - 3);
    const text = truncate(`${sign.text}${counted}`, room);
    this.#isShown = true;
    this.#stream().write(`\r\u001b[2K${sign.paint(FRAMES[this.#frame++ % FRAMES.length] ?? '')} ${text}`);
  }

  #print(text: string): void {
    if (this.#printed.has(text)) return;
    this.#printed.add(text);
    this.#erase();
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

/** A single instance, because there is only one screen. */
export const waitingIndicator = new WaitingIndicator(() => process.stderr);
