interface Due {
  at: number;
  id: string;
}

/** IDs by due time, in a binary heap, so that checking 100,000 envelopes only takes one comparison. */
export class DueQueue {
  readonly #heap: Due[] = [];

  /** The earliest due time, in ms since the epoch. */
  get next(): number | undefined {
    return this.#heap[0]?.at;
  }

  push(at: number, id: string): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push({ at, id });
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#swapIfEarlier(index, parent)) return;
      index = parent;
    }
  }

  /** Removes and returns the IDs due at `now`, earliest first. */
  take(now: number, most = Number.POSITIVE_INFINITY): string[] {
    const ids: string[] = [];
    for (let first = this.#heap[0]; first && first.at <= now && ids.length < most; first = this.#heap[0]) {
      ids.push(first.id);
      this.#removeFirst();
    }
    return ids;
  }

  clear(): void {
    this.#heap.length = 0;
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    heap[0] = last;
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      const smaller = this.#earlier(left + 1, left) ? left + 1 : left;
      if (!this.#swapIfEarlier(smaller, index)) return;
      index = smaller;
    }
  }

  #earlier(a: number, b: number): boolean {
    const first = this.#heap[a];
    const second = this.#heap[b];
    return first !== undefined && second !== undefined && first.at < second.at;
  }

  #swapIfEarlier(child: number, parent: number): boolean {
    const heap = this.#heap;
    const lower = heap[child];
    const upper = heap[parent];
    if (!lower || !upper || lower.at >= upper.at) return false;
    heap[child] = upper;
    heap[parent] = lower;
    return true;
  }
}
