/**
 * Runs `work` for each item, at most `limit` at the same time. Yields the results in the order of the items, each as soon as it
 * and all earlier ones are available.
 */
export async function* mapInOrder<T, R>(
  items: Iterable<T> | AsyncIterable<T>,
  limit: number,
  work: (item: T) => Promise<R> | R,
): AsyncGenerator<R, void, undefined> {
  const running: Promise<R>[] = [];
  for await (const item of items) {
    const promise = Promise.resolve(work(item));
    // Prevents an unhandled rejection if this fails while an earlier result is still awaited.
    promise.catch(() => undefined);
    running.push(promise);
    const first = running.length < limit ? undefined : running.shift();
    if (first !== undefined) yield await first;
  }
  for (const promise of running) yield await promise;
}

/**
 * Works like mapInOrder, but a slow item doesn't keep later work from starting: later results are buffered until it is done. If
 * the iteration ends early, no more work is started and running work is awaited.
 *
 * ```ts
 * // Eight objects at the same time, reported in the order of the keys.
 * for await (const bytes of mapAhead(keys, 8, fetchObject)) console.log(bytes);
 * ```
 */
export async function* mapAhead<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R, void, undefined> {
  const started = new Map<number, Promise<R>>();
  const queue = items.entries();
  let running = 0;
  let stopped = false;
  const fill = () => {
    while (running < limit && !stopped) {
      const next = queue.next();
      if (next.done) return;
      const [index, item] = next.value;
      running++;
      const promise = work(item).finally(() => {
        running--;
        fill();
      });
      promise.catch(() => undefined);
      started.set(index, promise);
    }
  };
  try {
    fill();
    for (const index of items.keys()) {
      const promise = started.get(index);
      if (promise === undefined) continue;
      yield await promise;
      started.delete(index);
    }
  } finally {
    stopped = true;
    await Promise.allSettled(started.values());
  }
}

/**
 * Runs `work` for each item, at most `limit` at the same time, in any order. After a failure, no more work is started, and running
 * work is awaited before the first error is thrown.
 */
export async function forEachOf<T>(
  items: Iterable<T> | AsyncIterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const errors: unknown[] = [];
  try {
    for await (const item of items) {
      if (errors.length > 0) break;
      const promise: Promise<void> = work(item)
        .catch((error: unknown) => void errors.push(error))
        .finally(() => running.delete(promise));
      running.add(promise);
      if (running.size >= limit) await Promise.race(running);
    }
  } finally {
    await Promise.all(running);
  }
  if (errors.length > 0) throw errors[0];
}

/** Yields the first `limit` items. `onMore` is called if there are more. */
export async function* takeFirst<T>(
  items: AsyncIterable<T>,
  limit: number,
  onMore: () => void,
): AsyncGenerator<T, void, undefined> {
  let taken = 0;
  for await (const item of items) {
    if (taken >= limit) {
      onMore();
      return;
    }
    taken++;
    yield item;
  }
}

/** Returns all items. */
export async function collectAll<T>(items: AsyncIterable<T> | Iterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

export async function* mapEach<T, R>(
  items: AsyncIterable<T>,
  change: (item: T) => R,
): AsyncGenerator<R, void, undefined> {
  for await (const item of items) yield change(item);
}

/** The error for a body that is too large. */
export class BodyLimitError extends Error {}

/** Collects a body in one growing buffer, so that memory is limited by the number of bytes, regardless of the size of the pieces. */
export class BoundedBody {
  readonly #maxBytes: number;
  #buffer: Uint8Array = new Uint8Array();
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Adds a piece. @throws BodyLimitError for the first piece over the limit. Collected bytes are discarded. */
  add(piece: Uint8Array): void {
    const size = this.#size + piece.byteLength;
    if (size > this.#maxBytes) {
      this.#buffer = new Uint8Array();
      this.#size = 0;
      throw new BodyLimitError('The body is too large.');
    }
    // Most bodies are a single piece, which is not copied.
    if (this.#size === 0) this.#buffer = piece;
    else this.#append(piece, size);
    this.#size = size;
  }

  #append(piece: Uint8Array, size: number): void {
    if (size > this.#buffer.byteLength) {
      const grown = new Uint8Array(Math.min(this.#maxBytes, Math.max(size, 2 * this.#buffer.byteLength)));
      grown.set(this.#buffer.subarray(0, this.#size));
      this.#buffer = grown;
    }
    this.#buffer.set(piece, this.#size);
  }

  bytes(): Buffer {
    return Buffer.from(this.#buffer.buffer, this.#buffer.byteOffset, this.#size);
  }
}

/** Reads a whole body. @throws BodyLimitError if it has more than `maxBytes` bytes. */
export async function readBounded(pieces: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const body = new BoundedBody(maxBytes);
  for await (const piece of pieces) body.add(piece);
  return body.bytes();
}
