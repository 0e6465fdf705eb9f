/** A queue whose values can be iterated once, in order. Pushing never waits. */
export class Channel<T> implements AsyncIterable<T> {
  #buffer: T[] = [];
  #end: { error?: unknown } | undefined;
  #wake: (() => void) | undefined;

  push(value: T): void {
    if (this.#end !== undefined) return;
    this.#buffer.push(value);
    this.#wake?.();
  }

  /** Ends the iteration, with an error if one is given. */
  close(end: { error?: unknown } = {}): void {
    this.#end ??= end;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (;;) {
      const buffered = this.#buffer;
      this.#buffer = [];
      yield* buffered;
      if (this.#buffer.length > 0) continue;
      if (this.#end !== undefined && 'error' in this.#end) throw this.#end.error;
      if (this.#end !== undefined) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
