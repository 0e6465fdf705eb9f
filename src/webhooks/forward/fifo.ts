/** Values in the order in which they were added. Adding and taking stay fast if there are many. */
export class Fifo<T> {
  /** The first values, in reverse order, because removing the last value of a long list is fast. */
  #first: T[] = [];
  /** Those after them, in order. */
  #added: T[] = [];

  add(value: T): void {
    this.#added.push(value);
  }

  /** Removes the first value and returns it, or undefined if there are no values. */
  take(): T | undefined {
    if (this.#first.length === 0) [this.#first, this.#added] = [this.#added.reverse(), this.#first];
    return this.#first.pop();
  }
}
