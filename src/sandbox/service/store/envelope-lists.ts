import type { EnvelopeRecord } from '../../model.ts';

/** The envelopes of each organization in order of creation, all of them and by status, so that reading a page copies only that page. */
export class EnvelopeLists {
  readonly #places = new Map<string, CreationPosition>();
  readonly #lists = new Map<string, CreationOrder>();

  /** Adds an envelope, or moves it from the list of its previous status to that of its current one. */
  put(envelope: EnvelopeRecord, before: EnvelopeRecord | undefined): void {
    const { id, orgId, status } = envelope;
    let place = this.#places.get(id);
    if (place === undefined) {
      place = { id, createdAt: Date.parse(envelope.createdAt), nth: this.#places.size };
      this.#places.set(id, place);
      this.list(orgId).add(place);
    }
    if (before?.status === status) return;
    if (before) this.list(orgId, before.status).remove(place);
    this.list(orgId, status).add(place);
  }

  list(orgId: string, status?: string): CreationOrder {
    const key = `${orgId} ${status ?? ''}`;
    const known = this.#lists.get(key);
    if (known) return known;
    const list = new CreationOrder();
    this.#lists.set(key, list);
    return list;
  }

  clear(): void {
    this.#places.clear();
    this.#lists.clear();
  }
}

/** An envelope's position in a list: by creation time, then by insertion order. */
interface CreationPosition {
  id: string;
  /** In ms since the epoch. */
  createdAt: number;
  nth: number;
}

/** IDs by creation time, oldest first, even if the clock was set back between two of them. */
class CreationOrder {
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
