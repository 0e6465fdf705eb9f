import {
  closeSync,
  constants,
  fstatSync,
  fsync,
  ftruncateSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
  writevSync,
} from 'node:fs';
import { rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod/mini';
import { startMd5 } from '../../kernel/digest.ts';
import { codeOf } from '../../kernel/errors.ts';
import { retryWhileInUse } from '../../kernel/files/files.ts';
import { makeFolder } from '../../kernel/files/folder.ts';
import { blocksOf, openRegular, readRegular } from '../../kernel/files/regular-file.ts';
import { tryParseJson } from '../../kernel/json.ts';
import { localError } from '../archive/local-error.ts';
import { CHECKSUM_ALGORITHMS, isProvable, isStrong, type ObjectFacts } from '../bucket/object-facts.ts';
import { corrupt, Digest, type FileHash } from './digest.ts';
import type { Sink } from './transfer.ts';

/** The size below which a download starts over, because resuming would cost more than it saves. */
const RESUME_MIN_BYTES = 1024 * 1024;
/** The number of bytes that are buffered before they are written. */
const BUFFER_BYTES = 512 * 1024;
/** The number of bytes between two checkpoints. */
const CHECKPOINT_BYTES = 4 * 1024 * 1024;

const { O_RDONLY, O_WRONLY, O_RDWR, O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
const sync = promisify(fsync);

/** The identity of the object in a part file. */
interface PartOf {
  bucket: string;
  key: string;
}

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
  /** The open file. After `verify`, every byte has been written to it. */
  readonly file: number;
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
    const note = await readNote(this.path, this.#of);
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
    this.#locally(() => {
      this.#removeNote();
      ftruncateSync(this.file, 0);
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

/*
 * `NAME.part.json`: the first line identifies the object in `NAME.part`. If nothing in the bucket's response proves the content, the
 * following lines are checkpoints of the bytes received so far.
 */

const objectSchema = z.object({
  key: z.string(),
  bucket: z.string(),
  size: z.number(),
  etag: z.string(),
  md5: z.optional(z.string()),
  checksum: z.optional(z.object({ algorithm: z.enum(CHECKSUM_ALGORITHMS), value: z.string() })),
});
/** The length and hash of the first bytes, as received from the bucket. */
const checkpointSchema = z.object({ bytes: z.number(), sha256: z.string() });

/** The properties of an object that a note doesn't record. */
const UNKNOWN = {
  modified: undefined,
  contentType: undefined,
  encryption: undefined,
  storageClass: undefined,
};

function notePath(partPath: string): string {
  return `${partPath}.json`;
}

/** Starts a new note. Removes any existing file of that name first, so that nothing is written through a link. */
function writeNote(partPath: string, of: PartOf, { size, etag, md5, checksum }: ObjectFacts): void {
  const text = JSON.stringify({ ...of, size, etag, md5, checksum });
  rmSync(notePath(partPath), { force: true });
  writeFileSync(notePath(partPath), `${text}\n`, { mode: 0o600, flag: 'wx' });
}

function writeCheckpoint(partPath: string, checkpoint: z.infer<typeof checkpointSchema>): void {
  const file = openSync(notePath(partPath), O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK);
  try {
    writeSync(file, `${JSON.stringify(checkpoint)}\n`);
  } finally {
    closeSync(file);
  }
}

/** Reads the note. Returns undefined if it is missing, unreadable, or about another object. */
async function readNote(partPath: string, of: PartOf) {
  const text = await readRegular(notePath(partPath), O_RDONLY | O_NOFOLLOW).catch(() => undefined);
  // A crash can truncate the last line, which is then ignored.
  const [first = '', ...rest] = (text ?? '').split('\n');
  const object = objectSchema.safeParse(tryParseJson(first));
  if (!object.success || object.data.key !== of.key || object.data.bucket !== of.bucket) return undefined;
  const { size, etag, md5, checksum } = object.data;
  const checkpoints = rest
    .map((line) => checkpointSchema.safeParse(tryParseJson(line)))
    .filter((one) => one.success);
  return {
    facts: { ...UNKNOWN, size, etag, md5: startMd5() && md5, checksum },
    checkpoint: checkpoints.at(-1)?.data,
  };
}
