/** Work on one key happens in the order it was asked for, one at a time; different keys do not wait. */
export class Turns {
  readonly #tails = new Map<string, Promise<unknown>>();

  /** Runs `work` after everything asked for `key` before it; a failure of one does not stop the next. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    const result = before.then(work);
    const tail = result.then(
      () => undefined,
      () => undefined,
    );
    this.#tails.set(key, tail);
    void tail.then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    });
    return result;
  }
}
