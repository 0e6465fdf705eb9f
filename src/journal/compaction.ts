import { open } from 'node:fs/promises';
import { writeLine } from './line.ts';
import { compactionEnd, headerOf, type JournalFormat } from './scan.ts';

/** The number of bytes written at a time. Between two slices, other work can run. */
const SLICE_BYTES = 256 * 1024;

/** How to compact a journal, so that its file doesn't grow indefinitely. */
export interface Compaction<T> {
  /**
   * Returns the entries that rebuild the current state. An entry written by `note` in the meantime may be among them and also
   * follow them. Replaying it twice must change nothing.
   */
  snapshot: () => Iterable<T>;
  /** The minimum size of a file to compact, in bytes. */
  least?: number;
}

/** Yields the lines of a journal with the entries that rebuild a state. */
export function* snapshotLines<T>(format: JournalFormat<T>, entries: Iterable<T>): Generator<string> {
  yield writeLine(headerOf(format));
  for (const entry of entries) yield writeLine(entry);
  yield writeLine(compactionEnd(format));
}

/** Writes lines to a file, which is overwritten. */
export async function writeInSlices(path: string, lines: Iterable<string | Buffer>): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    let slice: Buffer[] = [];
    let length = 0;
    for (const line of lines) {
      const bytes = typeof line === 'string' ? Buffer.from(line) : line;
      slice.push(bytes);
      length += bytes.length;
      if (length < SLICE_BYTES) continue;
      await file.appendFile(Buffer.concat(slice));
      slice = [];
      length = 0;
    }
    await file.appendFile(Buffer.concat(slice));
  } finally {
    await file.close();
  }
}
