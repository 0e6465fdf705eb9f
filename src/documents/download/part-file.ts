import {
  closeSync,
  constants,
  fstatSync,
  fsync,
  ftruncateSync,
  openSync,
  rmSync,
  writeSync,
  writevSync,
} from 'node:fs';
import { rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { codeOf } from '../../kernel/errors.ts';
import { retryWhileInUse } from '../../kernel/files/files.ts';
import { makeFolder } from '../../kernel/files/folder.ts';
import { blocksOf, openRegular } from '../../kernel/files/regular-file.ts';
import { localError } from '../archive/local-error.ts';
import { isProvable, isStrong, type ObjectFacts } from '../bucket/object-facts.ts';
import { Digest, type FileHash } from './digest.ts';
import { type Checkpoint, notePath, type PartOf, readNote, writeCheckpoint, writeNote } from './part-note.ts';
import type { Sink } from './transfer.ts';

/** The size below which a download starts over, because resuming would cost more than it saves. */
const RESUME_MIN_BYTES = 1024 * 1024;
/** The number of bytes that are buffered before they are written. */
const BUFFER_BYTES = 512 * 1024;
/** The number of bytes between two checkpoints. */
const CHECKPOINT_BYTES = 4 * 1024 * 1024;

const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants;
const sync = promisify(fsync);

/**
 * A file that is being downloaded: `NAME.part`. For larger objects, a note next to it has the object's identity, so that a later run can
 * resume if this one is killed. Writes are synchronous because handing a write to another thread takes longer than the write itself. Only
 * fsync runs on other threads, for many files at the same time.
 */
export class PartFile implements Sink {
  length = 0;
  /** The object whose first bytes an earlier run left in the file. */
  known: ObjectFacts | undefined;
  readonly path: string;
  readonly #file: number;
  #open = true;
  readonly #of: PartOf;
  #digest: Digest | undefined;
  #size: number | undefined;
  #buffered: Uint8Array[] = [];
  #bufferedBytes = 0;
  #hasNote = false;
  /** The length at the last checkpoint; infinite if no checkpoints are needed because the bucket's response proves the content. */
  #checkedBytes = Number.POSITIVE_INFINITY;

  private constructor(path: string, file: number, of: PartOf) {
    this.path = path;
    this.#file = file;
    this.#of = of;
  }

  /** Opens a part file, keeping usable bytes from an earlier run, and creates its folder if needed. */
  static async open(path: string, of: PartOf): Promise<PartFile> {
    const created = createPart(path);
    if (created !== undefined) return new PartFile(path, created, of);
    const found = openRegular(path, O_RDWR | O_NOFOLLOW);
    if (found === undefined) return PartFile.open(path, of);
    const part = new PartFile(path, found, of);
    try {
      await part.#resume();
      return part;
    } catch (error) {
      closeSync(found);
      throw error;
    }
  }

  /** Keeps the bytes of an earlier run if its note names the same key. */
  async #resume(): Promise<void> {
    const { size, nlink } = fstatSync(this.#file);
    // A file with a second hard link may belong to another program.
    if (nlink > 1) throw Object.assign(new Error('a file with two names'), { code: 'ENOTFILE' });
    if (size === 0) return;
    this.#hasNote = true;
    const note = await readNote(this.path, this.#of);
    if (note === undefined) return this.restart();
    const { facts, checkpoint } = note;
    if (isProvable(facts)) {
      // At least one byte is always requested, so that the bucket confirms that the object is still the same.
      this.length = Math.min(size, Math.max((facts.size ?? 0) - 1, 0));
    } else if (!(await this.#matches(facts, checkpoint))) return this.restart();
    ftruncateSync(this.#file, this.length);
    this.known = facts;
  }

  /** Returns true if the file starts with the bytes of the checkpoint and has more bytes after them. */
  async #matches(facts: ObjectFacts, checkpoint: Checkpoint | undefined): Promise<boolean> {
    if (checkpoint === undefined) return false;
    const digest = new Digest(this.#of.key, facts);
    for await (const block of blocksOf(this.#file, checkpoint.bytes)) digest.update(block);
    if (digest.hashSoFar() !== checkpoint.sha256) return false;
    this.#digest = digest;
    this.#size = facts.size;
    this.#checkedBytes = this.length = checkpoint.bytes;
    return true;
  }

  begin(facts: ObjectFacts): void {
    this.#digest = new Digest(this.#of.key, facts);
    this.#size = facts.size;
    if (facts.size === undefined || facts.size < RESUME_MIN_BYTES || !isStrong(facts.etag)) return;
    this.#locally(() => writeNote(this.path, this.#of, facts));
    this.#hasNote = true;
    this.#checkedBytes = isProvable(facts) ? Number.POSITIVE_INFINITY : 0;
  }

  write(chunk: Uint8Array): void {
    this.#digest?.update(chunk);
    this.#buffered.push(chunk);
    this.#bufferedBytes += chunk.byteLength;
    this.length += chunk.byteLength;
    if (this.#bufferedBytes >= BUFFER_BYTES) this.#locally(() => this.#flush());
  }

  #flush(): void {
    if (this.#bufferedBytes === 0) return;
    const blocks = this.#buffered;
    const start = this.length - this.#bufferedBytes;
    this.#buffered = [];
    this.#bufferedBytes = 0;
    const written = writevSync(this.#file, blocks, start);
    // A write can be partial.
    const rest = start + written < this.length ? Buffer.concat(blocks).subarray(written) : undefined;
    for (let done = 0; rest !== undefined && done < rest.byteLength; )
      done += writeSync(this.#file, rest, done, rest.byteLength - done, start + written + done);
    if (this.length >= this.#checkedBytes + CHECKPOINT_BYTES) this.#checkpoint();
  }

  /**
   * Saves a checkpoint from which a later run can resume. At least one byte is left to request, so that the bucket confirms that the object
   * is the same.
   */
  #checkpoint(): void {
    if (this.#digest === undefined || this.length === this.#size) return;
    this.#checkedBytes = this.length;
    writeCheckpoint(this.path, { bytes: this.length, sha256: this.#digest.hashSoFar() });
  }

  restart(): void {
    this.#buffered = [];
    this.#bufferedBytes = 0;
    this.length = 0;
    this.known = undefined;
    this.#checkedBytes = Number.POSITIVE_INFINITY;
    this.#digest = undefined;
    this.#locally(() => {
      this.#removeNote();
      ftruncateSync(this.#file, 0);
    });
  }

  #removeNote(): void {
    if (this.#hasNote) rmSync(notePath(this.path), { force: true });
    this.#hasNote = false;
  }

  /** Runs `work` and reports disk errors as local errors, so that a full disk isn't blamed on the bucket or retried. */
  #locally(work: () => void): void {
    try {
      work();
    } catch (error) {
      throw localError(error, this.path);
    }
  }

  /**
   * Compares the bytes with the object's metadata. Reads the file again if an earlier run wrote part of it.
   * @throws StorageError STORAGE_CORRUPT
   */
  async verify(facts: ObjectFacts): Promise<FileHash> {
    this.#locally(() => this.#flush());
    if (this.#digest !== undefined) return this.#digest.result();
    const digest = new Digest(this.#of.key, facts);
    for await (const block of blocksOf(this.#file)) digest.update(block);
    return digest.result();
  }

  /** Calls `work` with the open file. After `verify`, every byte has been written to it. */
  async read<T>(work: (file: number) => Promise<T>): Promise<T> {
    return work(this.#file);
  }

  /** Makes the bytes durable and gives them their final name. */
  async publish(finalPath: string): Promise<void> {
    await sync(this.#file);
    this.#close();
    await retryWhileInUse(() => rename(this.path, finalPath));
    this.#removeNote();
  }

  /** Keeps the bytes for a later run if it can use them. */
  keep(): void {
    if (this.#hasNote) {
      this.#flush();
      if (this.length > this.#checkedBytes) this.#checkpoint();
      this.#close();
    } else this.discard();
  }

  discard(): void {
    this.#close();
    rmSync(this.path, { force: true });
    this.#removeNote();
  }

  #close(): void {
    if (this.#open) closeSync(this.#file);
    this.#open = false;
  }
}

/** Creates the file. Returns undefined if it already exists. */
function createPart(path: string): number | undefined {
  for (let hasFolder = false; ; hasFolder = true) {
    try {
      return openSync(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return undefined;
      if (codeOf(error) !== 'ENOENT' || hasFolder) throw error;
      makeFolder(dirname(path));
    }
  }
}
