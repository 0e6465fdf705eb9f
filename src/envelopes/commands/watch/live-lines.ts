/** Lines at the end of the screen that replace each other. */
export class LiveLines {
  readonly #stream: NodeJS.WriteStream;
  #shown: readonly string[] = [];
  #columns: number;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
    this.#columns = stream.columns;
  }

  /** The most lines that fit above the cursor. */
  get room(): number {
    return (this.#stream.rows || 24) - 1;
  }

  /** Shows these lines. The terminal cuts them to its width, because a wrapped line could not be replaced. */
  draw(all: readonly string[]): void {
    const lines = all.slice(0, this.room);
    const isResized = this.#columns !== this.#stream.columns;
    const isSame = lines.length === this.#shown.length && lines.every((line, at) => line === this.#shown[at]);
    if (isSame && !isResized) return;
    // Lines that were shown may be wrapped now.
    const before = isResized ? '\u001b[2J\u001b[H' : this.#eraser();
    this.#stream.write(`${before}\u001b[?7l${lines.map((line) => `${line}\u001b[0m\n`).join('')}\u001b[?7h`);
    this.#shown = lines;
    this.#columns = this.#stream.columns;
  }

  erase(): void {
    this.#stream.write(this.#eraser());
    this.#shown = [];
  }

  #eraser(): string {
    return this.#shown.length === 0 ? '' : `\r\u001b[${this.#shown.length}A\u001b[J`;
  }
}
