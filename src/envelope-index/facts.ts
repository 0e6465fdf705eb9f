import { IndexFile } from './index-file.ts';
import { canChange } from './snapshot.ts';

/** What a machine knows about the envelopes of an account. */
export interface IndexFacts {
  file: string;
  envelopes: number;
  /** The number of envelopes that are requested again before they are shown. */
  canChange: number;
  bytes: number;
  damagedLines: number;
  /** When it contained every envelope of the service, ISO 8601; null if it never did. */
  completeAt: string | null;
}

/** Reads the facts of an index without a request. A missing file is an empty index. */
export async function readIndexFacts(file: string): Promise<IndexFacts> {
  const { known, completeness, size, damaged } = await new IndexFile(file).read();
  const all = [...known.values()];
  return {
    file,
    envelopes: all.length,
    canChange: all.filter(canChange).length,
    bytes: size,
    damagedLines: damaged,
    completeAt: completeness ? new Date(completeness.complete).toISOString() : null,
  };
}
