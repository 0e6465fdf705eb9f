import { truncate } from './text.ts';

/** How a wait is shown. */
export interface Sign {
  text: string;
  /** A line that moves and goes; else one that is said once and stays. */
  moves: boolean;
  /** Drawn without delay: what is waited for leaves no time to draw later. */
  atOnce?: boolean | undefined;
  paint: (text: string) => string;
}

/** Sooner than this an answer needs no sign, in ms. */
const PATIENCE_MS = 400;
/** From here on it says for how long, in ms. */
const COUNTED_MS = 3_000;
const TICK_MS = 100;
/** Requests that follow one another so closely are one wait, in ms. */
const GAP_MS = 300;
const FRAMES = [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'];

type Stream = Pick<NodeJS.WriteStream, 'write' | 'columns'>;

/**
 * The sign that something is waited for, on the last line of stderr. It comes when nothing else is shown and nothing was
 * written for a moment, and is gone before anything is written: all who write to the screen tell it.
 */
class WaitingSign {
  readonly #stream: () => Stream;
  /** What is waited for now, the latest last. */
  readonly #waits = new Set<Sign>();
  readonly #said = new Set<string>();
  /** How many others show something of their own. */
  #held = 0;
  #since = 0;
  #timer: NodeJS.Timeout | undefined;
  #end: NodeJS.Timeout | undefined;
  #last: Sign | undefined;
  #isShown = false;
  #isAtLineStart = true;
  #frame = 0;

  /** The stream is asked for only when something is drawn. */
  constructor(stream: () => Stream) {
    this.#stream = stream;
  }

  /** Something is waited for, until what is returned is called. */
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

  /** Something else is about to be written; the text, where it goes to the screen. */
  gone(text?: string | Uint8Array): void {
    this.#erase();
    this.#restart();
    if (text !== undefined && text.length > 0)
      this.#isAtLineStart = typeof text === 'string' ? text.endsWith('\n') : text.at(-1) === 10;
  }

  /** Something else is shown, until what is returned is called. */
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

  /** Where nothing is waited for, no time is asked for either: Node would load it. */
  #restart(): void {
    if (this.#timer !== undefined) this.#since = performance.now();
  }

  #tick(from = PATIENCE_MS): void {
    const sign = this.#last;
    const ms = performance.now() - this.#since;
    // A line that is not at its end would be erased with the sign.
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

/** There is one screen, and so one sign. */
export const waitingSign = new WaitingSign(() => process.stderr);
