/**
 * Runs `work` over the items with at most `limit` at once and yields the results in the order of the items,
 * each as soon as it and all before it are there.
 */
export async function* mapInOrder<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R, void, undefined> {
  const running: Promise<R>[] = [];
  let next = 0;
  while (next < items.length || running.length > 0) {
    while (next < items.length && running.length < limit) {
      const item = items[next++];
      if (item === undefined) continue;
      const promise = work(item);
      // A later failure must not count as unhandled while an earlier result is still being waited for.
      promise.catch(() => undefined);
      running.push(promise);
    }
    const first = running.shift();
    if (first !== undefined) yield await first;
  }
}

/**
 * As mapInOrder, but a slow item holds up no work, only the results behind it, which are kept meanwhile. When it ends
 * early, it starts nothing more and waits for what is running.
 *
 * ```ts
 * // Eight objects under way at once, told in the order of the keys.
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

/** The first `limit` items; `onMore` is told when there would have been others. */
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

/** Each item as something else. */
export async function* mapEach<T, R>(
  items: AsyncIterable<T>,
  change: (item: T) => R,
): AsyncGenerator<R, void, undefined> {
  for await (const item of items) yield change(item);
}
