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
import { isProvable, isStrong, type ObjectFacts } from '../bucket/object.ts';
import { corrupt, Digest, type FileHash } from './digest.ts';
import {
  type PartOf,
  partRecordPath,
  readPartRecord,
  writeCheckpoint,
  writePartRecord,
} from './part-record.ts';
import type { Sink } from './transfer.ts';

/** The number of bytes that are buffered before they are written, and the longest time that they stay in memory. */
const BUFFER_BYTES = 512 * 1024;
const SAVE_INTERVAL_MS = 250;
/** The number of bytes between two checkpoints. */
const CHECKPOINT_BYTES = 4 * 1024 * 1024;

const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants;
const sync = promisify(fsync);

/**
 * A file that is being downloaded: `NAME.part`. A note next to it has the object's identity, so that a later run can resume if this
 * one is killed. A download that is finished before its bytes are saved for the first time needs no note. Writes are synchronous
 * because handing a write to another thread takes longer than the write itself. Only fsync runs on other threads, for many files at
 * the same time.
 */
export class PartFile implements Sink {
  length = 0;
  /** The object whose first bytes an earlier run left in the file. */
  known: ObjectFacts | undefined;
  readonly path: string;
  /** The open file. After `verify`, every byte has been written to it. */
  readonly file: number;
  #open = true;
  readonly #of: PartOf;
  #digest: Digest | undefined;
  #size: number | undefined;
  #buffered: Uint8Array[] = [];
  #bufferedBytes = 0;
  #hasNote = false;
  /** The object, if a later run can resume its download. */
  #resumable: ObjectFacts | undefined;
  #saving: NodeJS.Timeout | undefined;
  /** Why the bytes could not be saved between two writes. */
  #failure: Error | undefined;
  /** The length at the last checkpoint; infinite if no checkpoints are needed because the bucket's response proves the content. */
  #checkedBytes = Number.POSITIVE_INFINITY;

  private constructor(path: string, file: number, of: PartOf) {
    this.path = path;
    this.file = file;
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
    const { size, nlink } = fstatSync(this.file);
    // A file with a second hard link may belong to another program.
    if (nlink > 1) throw Object.assign(new Error('a file with two names'), { code: 'ENOTFILE' });
    this.#hasNote = true;
    const note = await readPartRecord(this.path, this.#of);
    if (note === undefined) return this.restart();
    const { facts, checkpoint } = note;
    // At least one byte is always requested, so that the bucket confirms that the object is still the same.
    const proven = isProvable(facts) ? Math.max(facts.size - 1, 0) : checkpoint?.bytes;
    const digest = new Digest(this.#of.key, facts);
    const length = Math.min(size, proven ?? 0);
    try {
      for await (const block of blocksOf(this.file, length)) digest.update(block);
    } catch (error) {
      if (codeOf(error) === 'STORAGE_CORRUPT') return this.restart();
      throw error;
    }
    if (!isProvable(facts) && digest.hashSoFar() !== checkpoint?.sha256) return this.restart();
    this.#digest = digest;
    this.#size = facts.size;
    this.length = length;
    if (!isProvable(facts)) this.#checkedBytes = length;
    ftruncateSync(this.file, length);
    this.known = facts;
    this.#saveRegularly(facts);
  }

  begin(facts: ObjectFacts): void {
    this.#digest = new Digest(this.#of.key, facts);
    this.#size = facts.size;
    if (facts.size !== undefined && isStrong(facts.etag)) this.#saveRegularly(facts);
  }

  /** Saves the bytes at intervals, so that a kill during a slow or stalled download loses little. */
  #saveRegularly(facts: ObjectFacts): void {
    this.#resumable = facts;
    this.#saving = setInterval(() => {
      try {
        this.#save();
        if (this.length >= 2 * this.#checkedBytes) this.#checkpoint();
      } catch (error) {
        this.#failure = localError(error, this.path);
        clearInterval(this.#saving);
      }
    }, SAVE_INTERVAL_MS).unref();
  }

  write(chunk: Uint8Array): void {
    if (this.#failure !== undefined) throw this.#failure;
    this.#digest?.update(chunk);
    this.#buffered.push(chunk);
    this.#bufferedBytes += chunk.byteLength;
    this.length += chunk.byteLength;
    if (this.#bufferedBytes >= BUFFER_BYTES) this.#locally(() => this.#save());
  }

  /** Writes the buffered bytes, and before the first ones the note, if a later run can use them. */
  #save(): void {
    if (this.#bufferedBytes > 0 && this.#resumable !== undefined && !this.#hasNote) {
      writePartRecord(this.path, this.#of, this.#resumable);
      this.#hasNote = true;
      this.#checkedBytes = isProvable(this.#resumable) ? Number.POSITIVE_INFINITY : 0;
    }
    this.#flush();
  }

  #flush(): void {
    if (this.#bufferedBytes === 0) return;
    const blocks = this.#buffered;
    const start = this.length - this.#bufferedBytes;
    this.#buffered = [];
    this.#bufferedBytes = 0;
    const written = writevSync(this.file, blocks, start);
    // A write can be partial.
    const rest = start + written < this.length ? Buffer.concat(blocks).subarray(written) : undefined;
    for (let done = 0; rest !== undefined && done < rest.byteLength; )
      done += writeSync(this.file, rest, done, rest.byteLength - done, start + written + done);
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
    this.#stopSaving();
    this.#locally(() => {
      this.#removeNote();
      ftruncateSync(this.file, 0);
    });
  }

  #stopSaving(): void {
    clearInterval(this.#saving);
    this.#resumable = undefined;
  }

  #removeNote(): void {
    if (this.#hasNote) rmSync(partRecordPath(this.path), { force: true });
    this.#hasNote = false;
  }

  /** Runs `work` and reports disk errors as local errors, so that a full disk isn't blamed on the bucket or retried. */
  #locally(work: () => void): void {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      work();
    } catch (error) {
      throw localError(error, this.path);
    }
  }

  /** Compares the bytes with the object's metadata. @throws StorageError STORAGE_CORRUPT */
  verify(): FileHash {
    this.#locally(() => this.#flush());
    if (this.#digest === undefined) throw corrupt(this.#of.key, 'no bytes arrived');
    return this.#digest.result();
  }

  /** Makes the bytes durable and gives them their final name. */
  async publish(finalPath: string): Promise<void> {
    await sync(this.file);
    this.#close();
    // The note goes first, so that a process killed in between leaves none behind.
    this.#removeNote();
    await retryWhileInUse(() => rename(this.path, finalPath));
  }

  /** Keeps the bytes for a later run if it can use them. */
  keep(): void {
    if (this.#resumable !== undefined && this.length > 0 && this.#failure === undefined) {
      this.#save();
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
    this.#stopSaving();
    if (this.#open) closeSync(this.file);
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
