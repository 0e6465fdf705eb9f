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
