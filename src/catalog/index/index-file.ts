import { closeSync, createWriteStream, openSync, readSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Envelope } from '../../api/resource-types.ts';
import { DAY_MS } from '../../kernel/duration.ts';
import { replaceAtomic } from '../../kernel/files/files.ts';
import { openRegularFile } from '../../kernel/files/regular-file.ts';
import { hasChecksum, writeLine } from '../../lines/line.ts';
import { eachLine } from '../../lines/lines.ts';
import type { Selection } from '../selection.ts';
import { envelopeIn } from './entry.ts';
import { HEADER, indexFolder, indexPrefix } from './index-writer.ts';
import { type IndexedEnvelope, Snapshot } from './snapshot.ts';

/** An index that wasn't updated for this long belongs to a key or an address that is no longer used. */
const UNUSED_MS = 90 * DAY_MS;
/** One call reads this many bytes, because a call for each envelope takes a fifth of the time of a report. */
const BLOCK_BYTES = 64 * 1024;

/*
 * The file of an index: a line of JSON with a checksum for each envelope, of which the last one counts. Several processes may append
 * at the same time. Everything in it can be read from the service again, so a damaged line is skipped.
 */

/** Reads an index; with an earlier snapshot, only the lines since. A missing file is an empty index. */
export async function readIndex(path: string, selection?: Selection, before?: Snapshot): Promise<Snapshot> {
  const file = await identityOf(path);
  const isContinued = before !== undefined && before.file === file;
  const snapshot = isContinued ? before : new Snapshot(selection);
  if (file === undefined) return snapshot;
  if (snapshot.size === 0 && !(await hasHeader(path))) {
    // Another version, or not an index: it is rebuilt.
    await rm(path, { force: true });
    return snapshot;
  }
  snapshot.file = file;
  let start = snapshot.size === 0 ? HEADER.length : snapshot.size;
  await eachLine(path, start, ({ bytes, end }) => {
    snapshot.take(bytes, start, end);
    start = end;
  });
  return snapshot;
}

async function identityOf(path: string): Promise<string | undefined> {
  const facts = await stat(path).catch(() => undefined);
  return facts && `${facts.ino} ${facts.birthtimeMs}`;
}

async function hasHeader(path: string): Promise<boolean> {
  const file = await openRegularFile(path);
  if (file === undefined) return false;
  try {
    const { buffer } = await file.read(Buffer.alloc(HEADER.length), 0, HEADER.length, 0);
    return buffer.toString() === HEADER;
  } finally {
    await file.close();
  }
}

/** Rewrites an index if lines are damaged or more than half of it is obsolete. Returns false if it didn't. */
export async function compactIndex(path: string, snapshot: Snapshot): Promise<boolean> {
  const { live, size, damaged, known, completeness } = snapshot;
  if (damaged === 0 && size <= 2 * live + HEADER.length) return false;
  await replaceAtomic(path, async (draft) => {
    const source = openSync(path, 'r');
    function* lines() {
      yield HEADER;
      for (const one of known.values()) yield bytesAt(source, one.start, one.end);
      if (completeness) yield writeLine(completeness);
    }
    try {
      await pipeline(Readable.from(lines()), createWriteStream(draft, { mode: 0o600 }));
    } finally {
      // Windows can't replace an open file.
      closeSync(source);
    }
  });
  return true;
}

/** Removes the indexes of keys and addresses that are no longer used. */
export async function removeUnusedIndexes(folder: string): Promise<void> {
  for (const path of await indexFiles(folder, '')) {
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs > UNUSED_MS) await rm(path, { force: true });
  }
}

/** Removes a profile's indexes when the profile is removed or stops using an index. */
export async function removeIndexesOf(stateDir: string, profile: string): Promise<void> {
  for (const path of await indexFiles(indexFolder(stateDir), indexPrefix(profile)))
    await rm(path, { force: true });
}

async function indexFiles(folder: string, prefix: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((one) => one.startsWith(prefix) && one.endsWith('.jsonl'))
    .map((name) => join(folder, name));
}

/** The envelopes in an index file, by the positions of their lines. */
export class StoredEnvelopes {
  readonly #file: number;
  /** The bytes that were read last, and their position: neighbors are usually read one after another. */
  #block: Buffer = Buffer.alloc(0);
  #blockStart = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'r');
  }

  /** Returns the envelope; undefined if the file was rewritten since its position was read, and its line checked. */
  get(one: IndexedEnvelope): Envelope | undefined {
    const line = this.#lineOf(one).subarray(0, -1);
    if (!hasChecksum(line, one.checksum)) return undefined;
    const envelope = envelopeIn(line);
    return envelope?.id === one.id ? envelope : undefined;
  }

  #lineOf({ start, end }: IndexedEnvelope): Buffer {
    if (start < this.#blockStart || end > this.#blockStart + this.#block.length) {
      this.#blockStart = start - (start % BLOCK_BYTES);
      const blockEnd = Math.max(this.#blockStart + BLOCK_BYTES, end);
      this.#block = bytesAt(this.#file, this.#blockStart, blockEnd);
    }
    return this.#block.subarray(start - this.#blockStart, end - this.#blockStart);
  }

  close(): void {
    closeSync(this.#file);
  }
}

function bytesAt(file: number, start: number, end: number): Buffer {
  const bytes = Buffer.allocUnsafe(end - start);
  return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, start));
}
