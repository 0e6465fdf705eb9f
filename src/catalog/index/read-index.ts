import type { Selection } from '../selection.ts';
import type { IndexStore } from './index-store.ts';
import { Snapshot } from './snapshot.ts';

/** Reads an index; with an earlier snapshot, only the lines since. */
export async function readIndex(
  store: IndexStore,
  selection?: Selection,
  before?: Snapshot,
): Promise<Snapshot> {
  const file = await store.identity();
  const snapshot = before !== undefined && before.file === file ? before : new Snapshot(selection);
  snapshot.file = file;
  if (file !== undefined)
    await store.eachLine(snapshot.size, (line, start, end) => snapshot.take(line, start, end));
  return snapshot;
}
