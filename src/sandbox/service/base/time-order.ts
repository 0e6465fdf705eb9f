interface TimedId {
  at: number;
  id: string;
}

/** IDs in the order of their times. Adding one to 100,000, or finding the earliest, takes microseconds. */
export class TimeOrder {
  readonly #entries: TimedId[] = [];

  get length(): number {
    return this.#entries.length;
  }

  /** The earliest time, in ms since the epoch. */
  get first(): number | undefined {
    return this.#entries[0]?.at;
  }

  /** Adds an ID after all others with the same time. */
  add(at: number, id: string): void {
    let low = 0;
    let high = this.#entries.length;
    // Most IDs are added at the end.
    if ((this.#entries.at(-1)?.at ?? at) <= at) low = high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#entries[middle]?.at ?? at) <= at) low = middle + 1;
      else high = middle;
    }
    this.#entries.splice(low, 0, { at, id });
  }

  /** Removes and returns the IDs up to `now`, earliest first. */
  take(now: number, most = Number.POSITIVE_INFINITY): string[] {
    let count = 0;
    while (count < most && (this.#entries[count]?.at ?? Number.POSITIVE_INFINITY) <= now) count += 1;
    return this.#entries.splice(0, count).map(({ id }) => id);
  }

  /** Returns the IDs from one position up to another, earliest first. */
  slice(start?: number, end?: number): string[] {
    return this.#entries.slice(start, end).map(({ id }) => id);
  }

  clear(): void {
    this.#entries.length = 0;
  }
}
