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
import { untilFree } from '../../kernel/files/files.ts';
import { makeFolder } from '../../kernel/files/folder.ts';
import { blocksOf, openRegular } from '../../kernel/files/regular-file.ts';
import { localError } from '../archive/local-error.ts';
import { isProvable, isStrong, type ObjectFacts } from '../bucket/object-facts.ts';
import { type Counted, Digest } from './digest.ts';
import { type Checkpoint, notePath, type PartOf, readNote, writeCheckpoint, writeNote } from './part-note.ts';
import type { Sink } from './transfer.ts';

/** Smaller objects are fetched again from the start: going on would cost more than it saves. */
const WORTH_RESUMING = 1024 * 1024;
/** Bytes gathered before they are written. */
const GATHER = 512 * 1024;
/** Bytes between two checkpoints. */
const CHECKPOINT = 4 * 1024 * 1024;

const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants;
const sync = promisify(fsync);

/**
 * A file on its way: `NAME.part`, and for larger ones a note beside it that says which object the bytes are of, so that
 * a later run goes on where a killed one stopped. Bytes are written with calls that wait, since handing each to another
 * thread takes longer than the call; only making them durable is left to the threads, for many files at once.
 */
export class PartFile implements Sink {
  length = 0;
  /** The object that the bytes found there are of. */
  known: ObjectFacts | undefined;
  readonly path: string;
  readonly #file: number;
  #open = true;
  readonly #of: PartOf;
  readonly #lasting: boolean;
  #digest: Digest | undefined;
  #size: number | undefined;
  #gathered: Uint8Array[] = [];
  #gatheredBytes = 0;
  #noted = false;
  /** How far the note says what was received, where the bucket gives nothing that proves the content. */
  #checked = Number.POSITIVE_INFINITY;

  private constructor(path: string, file: number, of: PartOf, lasting: boolean) {
    this.path = path;
    this.#file = file;
    this.#of = of;
    this.#lasting = lasting;
  }

  /**
   * Opens a part file, making its folder where it is missing. With `lasting` what an earlier run left is gone on with,
   * and what this one leaves is for a later one.
   */
  static async open(path: string, of: PartOf, lasting: boolean): Promise<PartFile> {
    const fresh = openFresh(path);
    if (fresh !== undefined) return new PartFile(path, fresh, of, lasting);
    const found = openRegular(path, O_RDWR | O_NOFOLLOW);
    if (found === undefined) return PartFile.open(path, of, lasting);
    const part = new PartFile(path, found, of, lasting);
    try {
      await part.#recall();
      return part;
    } catch (error) {
      closeSync(found);
      throw error;
    }
  }

  /** Takes over what an earlier run left, where its note says that it is of the same key. */
  async #recall(): Promise<void> {
    const { size, nlink } = fstatSync(this.#file);
    // Under another name it is somebody's file.
    if (nlink > 1) throw Object.assign(new Error('a file with two names'), { code: 'ENOTFILE' });
    if (size === 0) return;
    this.#noted = true;
    const note = await readNote(this.path, this.#of);
    if (note === undefined) return this.restart();
    const { facts, checkpoint } = note;
    if (isProvable(facts)) {
      // The last byte is always asked for: so the bucket says that the object is still the same.
      this.length = Math.min(size, Math.max((facts.size ?? 0) - 1, 0));
    } else if (!(await this.#hasStill(facts, checkpoint))) return this.restart();
    ftruncateSync(this.#file, this.length);
    this.known = facts;
  }

  /** True when the file begins with the very bytes that were received; it is gone on with behind them. */
  async #hasStill(facts: ObjectFacts, checkpoint: Checkpoint | undefined): Promise<boolean> {
    if (checkpoint === undefined) return false;
    const digest = new Digest(this.#of.key, facts);
    for await (const block of blocksOf(this.#file, checkpoint.bytes)) digest.update(block);
    if (digest.soFar() !== checkpoint.sha256) return false;
    this.#digest = digest;
    this.#size = facts.size;
    this.#checked = this.length = checkpoint.bytes;
    return true;
  }

  begin(facts: ObjectFacts): void {
    this.#digest = new Digest(this.#of.key, facts);
    this.#size = facts.size;
    if (facts.size === undefined || facts.size < WORTH_RESUMING || !isStrong(facts.etag)) return;
    this.#locally(() => writeNote(this.path, this.#of, facts));
    this.#noted = true;
    this.#checked = isProvable(facts) ? Number.POSITIVE_INFINITY : 0;
  }

  write(chunk: Uint8Array): void {
    this.#digest?.update(chunk);
    this.#gathered.push(chunk);
    this.#gatheredBytes += chunk.byteLength;
    this.length += chunk.byteLength;
    if (this.#gatheredBytes >= GATHER) this.#locally(() => this.#flush());
  }

  #flush(): void {
    if (this.#gatheredBytes === 0) return;
    const blocks = this.#gathered;
    const start = this.length - this.#gatheredBytes;
    this.#gathered = [];
    this.#gatheredBytes = 0;
    const written = writevSync(this.#file, blocks, start);
    // A disk may take less than it was given.
    const rest = start + written < this.length ? Buffer.concat(blocks).subarray(written) : undefined;
    for (let done = 0; rest !== undefined && done < rest.byteLength; )
      done += writeSync(this.#file, rest, done, rest.byteLength - done, start + written + done);
    if (this.length >= this.#checked + CHECKPOINT) this.#checkpoint();
  }

  /** A later run goes on from here. The last byte is left to it, so that the bucket says that the object is the same. */
  #checkpoint(): void {
    if (this.#digest === undefined || this.length === this.#size) return;
    this.#checked = this.length;
    writeCheckpoint(this.path, { bytes: this.length, sha256: this.#digest.soFar() });
  }

  restart(): void {
    this.#gathered = [];
    this.#gatheredBytes = 0;
    this.length = 0;
    this.known = undefined;
    this.#checked = Number.POSITIVE_INFINITY;
    this.#digest = undefined;
    this.#locally(() => {
      this.#forgetNote();
      ftruncateSync(this.#file, 0);
    });
  }

  #forgetNote(): void {
    if (this.#noted) rmSync(notePath(this.path), { force: true });
    this.#noted = false;
  }

  /** A full disk is not the bucket's doing, and no reason to try again. */
  #locally(work: () => void): void {
    try {
      work();
    } catch (error) {
      throw localError(error, this.path);
    }
  }

  /**
   * Compares the bytes with what the bucket says of them; those that an earlier run left by reading the file again.
   * @throws StorageError STORAGE_CORRUPT
   */
  async prove(facts: ObjectFacts): Promise<Counted> {
    this.#locally(() => this.#flush());
    if (this.#digest !== undefined) return this.#digest.result();
    const digest = new Digest(this.#of.key, facts);
    for await (const block of blocksOf(this.#file)) digest.update(block);
    return digest.result();
  }

  /** Makes the bytes durable and gives them their final name. */
  async publish(finalPath: string): Promise<void> {
    await sync(this.#file);
    this.#close();
    await untilFree(() => rename(this.path, finalPath));
    this.#forgetNote();
  }

  /** Leaves what is there to a later run, where that is any use to it. */
  keep(): void {
    if (this.#noted && this.#lasting) {
      this.#flush();
      if (this.length > this.#checked) this.#checkpoint();
      this.#close();
    } else this.discard();
  }

  discard(): void {
    this.#close();
    rmSync(this.path, { force: true });
    this.#forgetNote();
  }

  #close(): void {
    if (this.#open) closeSync(this.#file);
    this.#open = false;
  }
}

/** A new file, or undefined where there is one. */
function openFresh(path: string): number | undefined {
  for (let made = false; ; made = true) {
    try {
      return openSync(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return undefined;
      if (codeOf(error) !== 'ENOENT' || made) throw error;
      makeFolder(dirname(path));
    }
  }
}
