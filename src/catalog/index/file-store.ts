import { closeSync, constants, createWriteStream, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { shortDigest } from '../../kernel/digest.ts';
import { DAY_MS } from '../../kernel/duration.ts';
import { codeOf } from '../../kernel/errors.ts';
import { replaceAtomic } from '../../kernel/files/files.ts';
import { makeFolder } from '../../kernel/files/folder.ts';
import { openRegular, readRegularBytes } from '../../kernel/files/regular-file.ts';
import { writeLine } from '../../lines/checksummed-line.ts';
import { eachLine, type TakeLine } from '../../lines/read-lines.ts';
import type { IndexStore, StoredLines } from './index-store.ts';
import type { Snapshot } from './snapshot.ts';

/** The first line. A file of another version is rebuilt. */
const HEADER = writeLine({ journal: 'envelope-index', version: 2 });
/** A file is created together with its first line. */
const APPEND = constants.O_WRONLY | constants.O_APPEND;
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
/** An index that wasn't updated for this long belongs to a key or an address that is no longer used. */
const UNUSED_MS = 90 * DAY_MS;
/** One call reads this many bytes, because a call for each envelope takes a fifth of the time of a report. */
const BLOCK_BYTES = 64 * 1024;

/** The account of an index. What one key can see is never shown to another. */
export interface IndexScope {
  baseUrl: string;
  profile: string | undefined;
  /** The key, or where it comes from. */
  apiKey: string;
}

function indexFolder(stateDir: string): string {
  return join(stateDir, 'index');
}

/** Returns the prefix of a profile's indexes. A profile has one for each key and address. */
function indexPrefix(profile: string | undefined): string {
  return `${shortDigest(profile ?? '')}-`;
}

/** Returns the path of a scope's index. Its name is a checksum, so it reveals no address, profile, or key. */
export function indexPath(stateDir: string, { baseUrl, profile, apiKey }: IndexScope): string {
  const name = shortDigest(JSON.stringify([baseUrl, apiKey]));
  return join(indexFolder(stateDir), `${indexPrefix(profile)}${name}.jsonl`);
}

/** An index in a file, which outlasts the command. */
export class FileStore implements IndexStore {
  readonly place: string;
  readonly isKept = true;

  constructor(path: string) {
    this.place = path;
  }

  append(text: string): void {
    let file = openRegular(this.place, APPEND);
    if (file === undefined) {
      makeFolder(dirname(this.place), 0o700);
      this.#create();
      file = openRegular(this.place, APPEND);
    }
    // The line break ends a line that a killed process left incomplete.
    if (file !== undefined) writeAndClose(file, `\n${text}`);
  }

  clear(): void {
    rmSync(this.place, { force: true });
  }

  async identity(): Promise<string | undefined> {
    const facts = await stat(this.place).catch(() => undefined);
    if (facts === undefined) return undefined;
    if (await this.#hasHeader()) return `${facts.ino} ${facts.birthtimeMs}`;
    // Another version, or not an index: it is rebuilt.
    await rm(this.place, { force: true });
    return undefined;
  }

  eachLine(from: number, take: TakeLine): Promise<void> {
    return eachLine(this.place, Math.max(from, HEADER.length), take);
  }

  open(): StoredLines {
    return new FileLines(this.place);
  }

  /** Rewrites the file if lines are damaged or more than half of it is obsolete. Before it is created, removes unused ones. */
  async tidy({ live, size, damaged, known, completeness }: Snapshot): Promise<boolean> {
    if (size === 0) await removeUnusedIndexes(dirname(this.place));
    if (damaged === 0 && size <= 2 * live + HEADER.length) return false;
    const { place } = this;
    await replaceAtomic(place, async (draft) => {
      const source = openSync(place, 'r');
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

  #create(): void {
    try {
      writeAndClose(openSync(this.place, CREATE, 0o600), HEADER);
    } catch (error) {
      // Another process created it first.
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }

  async #hasHeader(): Promise<boolean> {
    const bytes = await readRegularBytes(this.place, { maxBytes: HEADER.length });
    return bytes?.toString() === HEADER;
  }
}

function writeAndClose(file: number, text: string): void {
  try {
    writeSync(file, text);
  } finally {
    closeSync(file);
  }
}

/** Removes the indexes of keys and addresses that are no longer used. */
async function removeUnusedIndexes(folder: string): Promise<void> {
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

/** Reads blocks, because neighbors are usually read one after another. */
class FileLines implements StoredLines {
  readonly #file: number;
  #block: Buffer = Buffer.alloc(0);
  #blockStart = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'r');
  }

  line(start: number, end: number): Buffer {
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
