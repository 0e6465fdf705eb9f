/** Works on what is added in batches, one after another: what is added during one is the next. */
export class Batches<T, R> {
  readonly #work: (items: readonly T[]) => Promise<R>;
  #waiting: T[] = [];
  /** The batch that has not begun. */
  #next: Promise<R> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(work: (items: readonly T[]) => Promise<R>) {
    this.#work = work;
  }

  /** Returns the result of the batch that contains the items. It fails only if that one fails. */
  add(items: readonly T[]): Promise<R> {
    for (const item of items) this.#waiting.push(item);
    if (this.#next !== undefined) return this.#next;
    const next = this.#last.then(() => {
      const batch = this.#waiting;
      this.#waiting = [];
      this.#next = undefined;
      return this.#work(batch);
    });
    this.#next = next;
    this.#last = next.catch(() => undefined);
    return next;
  }

  /** Resolves when nothing is waiting. */
  async end(): Promise<void> {
    for (let last: unknown; last !== this.#last; await last) last = this.#last;
  }
}
