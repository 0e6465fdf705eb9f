/** An envelope's position in a list: by the time it was created, then by arrival. */
export interface CreationPosition {
  id: string;
  /** ms since the epoch */
  createdAt: number;
  nth: number;
}

/** Ids in the order of creation, the oldest first, also when the clock was set back between two of them. */
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

  /** Returns `count` IDs from a start, counted from the newest or the oldest. */
  slice(start: number, count: number, from: 'newest' | 'oldest'): string[] {
    const { length } = this.#places;
    if (from === 'oldest') return this.#places.slice(start, start + count).map(({ id }) => id);
    const end = Math.max(0, length - start);
    return this.#places
      .slice(Math.max(0, end - count), end)
      .reverse()
      .map(({ id }) => id);
  }

  /** The index of a place, or the one at which it belongs. */
  #indexOf(place: CreationPosition): number {
    let low = 0;
    let high = this.#places.length;
    // Most are the newest.
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
