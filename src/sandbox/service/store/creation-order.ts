/** An envelope's position in a list: by creation time, then by insertion order. */
export interface CreationPosition {
  id: string;
  /** In ms since the epoch. */
  createdAt: number;
  nth: number;
}

/** IDs by creation time, oldest first, even if the clock was set back between two of them. */
export class CreationOrder {
  readonly #places: CreationPosition[] = [];

  get size(): number {
    return this.#places.length;
  }

  add(place: CreationPosition): void {
    this.#places.splice(this.#indexOf(place), 0, place);
  }

  remove(place: CreationPosition): void {
    const index = this.#indexOf(place);
    if (this.#places[index] === place) this.#places.splice(index, 1);
  }

  /** Returns `count` IDs from a start index, counted from the newest or the oldest. */
  slice(start: number, count: number, from: 'newest' | 'oldest'): string[] {
    const { length } = this.#places;
    if (from === 'oldest') return this.#places.slice(start, start + count).map(({ id }) => id);
    const end = Math.max(0, length - start);
    return this.#places
      .slice(Math.max(0, end - count), end)
      .reverse()
      .map(({ id }) => id);
  }

  /** Returns the index of a position, or the index at which to insert it. */
  #indexOf(place: CreationPosition): number {
    let low = 0;
    let high = this.#places.length;
    // Most positions are added at the end.
    const last = this.#places.at(-1);
    if (last === undefined || isBefore(last, place)) return high;
    while (low < high) {
      const middle = (low + high) >> 1;
      const there = this.#places[middle];
      if (there !== undefined && isBefore(there, place)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function isBefore(a: CreationPosition, b: CreationPosition): boolean {
  return a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.nth < b.nth);
}
