import { closeSync, openSync, readSync } from 'node:fs';
import { open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Envelope } from '../api/schemas.ts';
import { Draft } from '../journal/compaction.ts';
import { writeLine } from '../journal/line.ts';
import { eachLine } from '../journal/lines.ts';
import { systemClock } from '../kernel/clock.ts';
import { replaceAtomic } from '../kernel/files/files.ts';
import { makeFolder } from '../kernel/files/folder.ts';
import { lockFile } from '../kernel/files/lock.ts';
import { envelopeIn } from './entry.ts';
import { HEADER, type IndexScope, indexFolder, indexPath, indexPrefix } from './index-writer.ts';
import { type Known, type Question, Snapshot } from './snapshot.ts';

/** Worth writing anew: so many bytes that no longer count, and as many as those that do. */
const LEAST_WASTE = 4 * 1024 * 1024;
/** An index that nobody fed for so long is of a key or an address that is gone. */
const UNUSED_MS = 90 * 86_400_000;
/** Lines that are copied at a time. */
const AT_ONCE = 200;
/** How much is read at a time. */
const BLOCK = 1024 * 1024;
/** Another process may build the index; as long as it lives it is waited for. */
const BUILD_MS = 24 * 3_600_000;

/** `waitMs`: how long another process is waited for. */
interface Waiting {
  waitMs?: number | undefined;
  signal?: AbortSignal | undefined;
  onWait?: (() => void) | undefined;
}

/**
 * The file of an index: lines with checksums, only ever appended to, by any number of processes at once. Nothing in it is
 * lost when it is: all of it can be read from the service again. So a line that is not as it was written counts as absent.
 */
export class IndexFile {
  readonly path: string;
  readonly #stateDir: string;

  constructor(stateDir: string, scope: IndexScope) {
    this.#stateDir = stateDir;
    this.path = indexPath(stateDir, scope);
  }

  /** What the file says; with a snapshot of before, only what came since is read. No file says nothing. */
  async read(question?: Question, before?: Snapshot): Promise<Snapshot> {
    const identity = await this.#identity();
    const goesOn = before !== undefined && before.file === identity;
    const snapshot = goesOn ? before : new Snapshot(question);
    if (identity === undefined) return snapshot;
    if (snapshot.size === 0 && !(await this.#hasHeader())) {
      // Of another version, or no index: it is made anew.
      await this.clear();
      return snapshot;
    }
    snapshot.file = identity;
    let start = snapshot.size;
    await eachLine(this.path, start, ({ bytes, end }) => {
      if (start > 0) snapshot.take(bytes, start, end);
      else snapshot.size = end;
      start = end;
    });
    return snapshot;
  }

  /** The file for reading envelopes out of it. */
  open(): OpenIndexFile {
    return new OpenIndexFile(openSync(this.path, 'r'));
  }

  /** Writes the file anew where much of it no longer counts, the newest envelopes last; false when it stays as it is. */
  async tidy(snapshot: Snapshot, always = false): Promise<boolean> {
    const live = snapshot.live;
    const waste = snapshot.size - live;
    if (!always && snapshot.damaged === 0 && waste < Math.max(LEAST_WASTE, live)) return false;
    const all = [...snapshot.known.values()].sort(oldestFirst);
    await replaceAtomic(this.path, async (draft) => {
      const source = openSync(this.path, 'r');
      try {
        await writeAll(draft, source, all, snapshot);
      } finally {
        // Windows replaces no file that is open.
        closeSync(source);
      }
    });
    return true;
  }

  /** The same for a command that has something else to do: where another process has the file, that one will see to it. */
  async tidyIfFree(): Promise<void> {
    await this.alone(async () => this.tidy(await this.read()), { waitMs: 0 });
  }

  /** Takes away the indexes beside this one that nobody uses any more. */
  async removeUnused(): Promise<void> {
    for (const { path, usedAt } of await indexFiles(this.#stateDir, 'all')) {
      if (Date.now() - usedAt > UNUSED_MS) await rm(path, { force: true });
    }
  }

  /** Takes the file away. */
  clear(): Promise<void> {
    return rm(this.path, { force: true });
  }

  /** Work that only one process does at a time. `onWait` is told when another one is at it. */
  async alone<T>(work: () => Promise<T>, { waitMs = BUILD_MS, signal, onWait }: Waiting = {}): Promise<T> {
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
    const taken = () => new Error('another process builds the index');
    const release = await lockFile(`${this.path}.lock`, taken, { waitMs, clock });
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

/** The files of all indexes, or of those of one profile: it has another one for each key and address. */
export async function indexFiles(
  stateDir: string,
  of: { profile: string | undefined } | 'all',
): Promise<{ path: string; bytes: number; usedAt: number }[]> {
  const folder = indexFolder(stateDir);
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

/** Takes away the indexes of a profile that goes, or keeps none any more. */
export async function removeIndexesOf(stateDir: string, profile: string): Promise<void> {
  for (const { path } of await indexFiles(stateDir, { profile })) await rm(path, { force: true });
}

/** A file of an index that is read at places. */
export class OpenIndexFile {
  readonly #file: number;

  constructor(file: number) {
    this.#file = file;
  }

  /** The envelope as it was read; undefined where its line is not there any more, since the file was written anew. */
  envelope(one: Known): Envelope | undefined {
    if (one.end === 0) return undefined;
    return envelopeIn(lineAt(this.#file, one).subarray(0, -1));
  }

  /** Yields the envelopes in the order of the file, which is read in blocks: a read for each of 100,000 takes half a second. */
  *all(wanted: readonly Known[]): Generator<Envelope, void, undefined> {
    const block = Buffer.allocUnsafe(BLOCK);
    let [from, filled] = [0, 0];
    for (const one of [...wanted].filter(({ end }) => end > 0).sort((a, b) => a.start - b.start)) {
      const length = one.end - one.start;
      if (one.end > from + filled && length <= BLOCK) {
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

const oldestFirst = (a: Known, b: Known) => (a.created || 0) - (b.created || 0) || a.seen - b.seen;

async function writeAll(
  draft: string,
  source: number,
  all: readonly Known[],
  snapshot: Snapshot,
): Promise<void> {
  const file = await Draft.at(draft);
  try {
    await file.write([HEADER]);
    for (let at = 0; at < all.length; at += AT_ONCE) {
      const lines = all.slice(at, at + AT_ONCE).flatMap((one) => linesOf(one, source));
      await file.append(Buffer.concat(lines));
    }
    if (snapshot.completeness) await file.write([snapshot.completeness]);
  } finally {
    await file.close();
  }
}

/** The line of an envelope as it was written, and that something happened since. */
function linesOf(one: Known, source: number): Buffer[] {
  const { id, touched, status, seen, end } = one;
  return [
    ...(end > 0 ? [lineAt(source, one)] : []),
    ...(touched ? [Buffer.from(writeLine({ touched: id, status, seen }))] : []),
  ];
}

function lineAt(file: number, { start, end }: Known): Buffer {
  const bytes = Buffer.allocUnsafe(end - start);
  return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, start));
}
