/** Removes the oldest entries of a map or set until at most `max` remain. */
export function dropOldest<K>(
  entries: { keys(): Iterable<K>; delete(key: K): boolean; readonly size: number },
  max: number,
): void {
  for (const oldest of entries.keys()) {
    if (entries.size <= max) return;
    entries.delete(oldest);
  }
}
