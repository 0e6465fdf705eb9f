import { closeSync, openSync, readSync } from 'node:fs';
import { open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Envelope } from '../../api/schemas.ts';
import { writeInSlices } from '../../journal/compaction.ts';
import { writeLine } from '../../journal/line.ts';
import { eachLine } from '../../journal/lines.ts';
import { systemClock } from '../../kernel/clock.ts';
import { replaceAtomic } from '../../kernel/files/files.ts';
import { makeFolder } from '../../kernel/files/folder.ts';
import { lockFile } from '../../kernel/files/lock.ts';
import type { Selection } from '../select.ts';
import { envelopeIn } from './entry.ts';
import { HEADER, indexFolder, indexPrefix } from './index-writer.ts';
import { type IndexedEnvelope, Snapshot } from './snapshot.ts';

/** The file is rewritten when its obsolete lines take at least this many bytes and at least half of it. */
const MIN_WASTE_BYTES = 4 * 1024 * 1024;
/** An index that wasn't updated for this long belongs to a key or an address that is no longer used. */
const UNUSED_MS = 90 * 86_400_000;
/** Bytes per read. */
const BLOCK = 1024 * 1024;
/** How long to wait while another process is building the index. The wait ends early if that process dies. */
const BUILD_TIMEOUT_MS = 24 * 3_600_000;

interface Waiting {
  signal?: AbortSignal | undefined;
  onWait?: (() => void) | undefined;
}

/**
 * The file of an index: lines with checksums, to which several processes may append at the same time. Everything in it can be
 * read from the service again, so a damaged line is skipped.
 */
export class IndexFile {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Reads the file; with an earlier snapshot, only the lines since. A missing file is an empty index. */
  async read(selection?: Selection, before?: Snapshot): Promise<Snapshot> {
    const identity = await this.#identity();
    const isContinued = before !== undefined && before.file === identity;
    const snapshot = isContinued ? before : new Snapshot(selection);
    if (identity === undefined) return snapshot;
    if (snapshot.size === 0 && !(await this.#hasHeader())) {
      // Another version, or not an index: it is rebuilt.
      await rm(this.path, { force: true });
      return snapshot;
    }
    snapshot.file = identity;
    let start = snapshot.size;
    await eachLine(this.path, start, ({ bytes, end }) => {
      snapshot.take(bytes, start, end);
      start = end;
    });
    return snapshot;
  }

  open(): OpenIndexFile {
    return new OpenIndexFile(openSync(this.path, 'r'));
  }

  /** Rewrites the file without obsolete lines, newest envelopes last, if there are many; returns false if it didn't. */
  async tidy(snapshot: Snapshot, always = false): Promise<boolean> {
    const live = snapshot.live;
    const waste = snapshot.size - live;
    if (!always && snapshot.damaged === 0 && waste < Math.max(MIN_WASTE_BYTES, live)) return false;
    const all = [...snapshot.known.values()].sort(oldestFirst);
    await replaceAtomic(this.path, async (draft) => {
      const source = openSync(this.path, 'r');
      try {
        await writeInSlices(draft, linesOf(all, source, snapshot));
      } finally {
        // Windows can't replace an open file.
        closeSync(source);
      }
    });
    return true;
  }

  async removeUnused(): Promise<void> {
    for (const { path, usedAt } of await indexFiles(dirname(this.path), 'all')) {
      if (Date.now() - usedAt > UNUSED_MS) await rm(path, { force: true });
    }
  }

  /** Runs work that only one process may do at a time. Calls `onWait` if it has to wait for another one. */
  async withLock<T>(work: () => Promise<T>, { signal, onWait }: Waiting = {}): Promise<T> {
    makeFolder(dirname(this.path), 0o700);
    let waits = false;
    const clock = {
      ...systemClock,
      sleep: (ms: number) => {
        if (!waits) onWait?.();
        waits = true;
        return systemClock.sleep(ms, signal);
      },
    };
    const taken = () => new Error('another process is building the index');
    const release = await lockFile(`${this.path}.lock`, taken, { waitMs: BUILD_TIMEOUT_MS, clock });
    try {
      return await work();
    } finally {
      await release();
    }
  }

  async #identity(): Promise<string | undefined> {
    const facts = await stat(this.path).catch(() => undefined);
    return facts && `${facts.ino} ${facts.birthtimeMs}`;
  }

  async #hasHeader(): Promise<boolean> {
    const expected = writeLine(HEADER);
    const file = await open(this.path, 'r');
    try {
      const { buffer } = await file.read(Buffer.alloc(expected.length), 0, expected.length, 0);
      return buffer.toString() === expected;
    } finally {
      await file.close();
    }
  }
}

/** Returns the files of all indexes in the folder, or of one profile's. A profile has one for each key and address. */
async function indexFiles(
  folder: string,
  of: { profile: string | undefined } | 'all',
): Promise<{ path: string; bytes: number; usedAt: number }[]> {
  const prefix = of === 'all' ? '' : indexPrefix(of.profile);
  const names = await readdir(folder).catch(() => []);
  const files: { path: string; bytes: number; usedAt: number }[] = [];
  for (const name of names.filter((one) => one.startsWith(prefix) && one.endsWith('.jsonl'))) {
    const path = join(folder, name);
    const facts = await stat(path).catch(() => undefined);
    if (facts) files.push({ path, bytes: facts.size, usedAt: facts.mtimeMs });
  }
  return files;
}

/** Removes a profile's indexes when the profile is removed or stops using an index. */
export async function removeIndexesOf(stateDir: string, profile: string): Promise<void> {
  for (const { path } of await indexFiles(indexFolder(stateDir), { profile }))
    await rm(path, { force: true });
}

export class OpenIndexFile {
  readonly #file: number;

  constructor(file: number) {
    this.#file = file;
  }

  /** Returns the envelope as it was read; undefined if the file was rewritten since and its line has moved. */
  envelope(one: IndexedEnvelope): Envelope | undefined {
    return envelopeIn(lineAt(this.#file, one).subarray(0, -1));
  }

  /** Yields the envelopes in file order. Reads blocks, because 100,000 single reads take half a second. */
  *all(wanted: readonly IndexedEnvelope[]): Generator<Envelope, void, undefined> {
    const block = Buffer.allocUnsafe(BLOCK);
    let [from, filled] = [0, 0];
    for (const one of [...wanted].sort((a, b) => a.start - b.start)) {
      const length = one.end - one.start;
      if (one.end > from + filled) {
        from = one.start;
        filled = readSync(this.#file, block, 0, BLOCK, from);
      }
      const at = one.start - from;
      const envelope =
        length <= BLOCK
          ? envelopeIn(block.subarray(at, Math.min(at + length, filled) - 1))
          : this.envelope(one);
      if (envelope) yield envelope;
    }
  }

  close(): void {
    closeSync(this.#file);
  }
}

const oldestFirst = (a: IndexedEnvelope, b: IndexedEnvelope) =>
  (a.created || 0) - (b.created || 0) || a.seen - b.seen;

/** Yields the line of each envelope. */
function* linesOf(
  all: readonly IndexedEnvelope[],
  source: number,
  { completeness }: Snapshot,
): Generator<string | Buffer> {
  yield writeLine(HEADER);
  for (const one of all) yield lineAt(source, one);
  if (completeness) yield writeLine(completeness);
}

function lineAt(file: number, { start, end }: IndexedEnvelope): Buffer {
  const bytes = Buffer.allocUnsafe(end - start);
  return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, start));
}
