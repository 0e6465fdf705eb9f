/** Makes the line breaks of text that arrives in chunks uniform. A carriage return at the end of a chunk may be half of one. */
export class LineBreaks {
  #held = '';

  add(chunk: string): string {
    const text = this.#held + chunk;
    this.#held = text.endsWith('\r') ? '\r' : '';
    return withPlainBreaks(text.slice(0, text.length - this.#held.length));
  }

  /** Call it after the last chunk. */
  end(): string {
    return withPlainBreaks(this.#held);
  }
}

export function withPlainBreaks(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}
