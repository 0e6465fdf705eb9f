/** IDs by due time, earliest first, so that checking 100,000 envelopes only takes one comparison. */
export class DueQueue {
  readonly #due: { at: number; id: string }[] = [];

  /** The earliest due time, in ms since the epoch. */
  get next(): number | undefined {
    return this.#due[0]?.at;
  }

  push(at: number, id: string): void {
    let low = 0;
    let high = this.#due.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#due[middle]?.at ?? at) <= at) low = middle + 1;
      else high = middle;
    }
    this.#due.splice(low, 0, { at, id });
  }

  /** Removes and returns the IDs due at `now`, earliest first. */
  take(now: number, most = Number.POSITIVE_INFINITY): string[] {
    let count = 0;
    while (count < most && (this.#due[count]?.at ?? Number.POSITIVE_INFINITY) <= now) count += 1;
    return this.#due.splice(0, count).map(({ id }) => id);
  }

  clear(): void {
    this.#due.length = 0;
  }
}
