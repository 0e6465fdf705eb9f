import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import * as z from 'zod/mini';
import { codeOf } from '../../kernel/errors.ts';
import { parseJson } from '../../kernel/json.ts';
import { localError } from '../archive/local-error.ts';
import { CHECKSUM_ALGORITHMS, isProvable, type ObjectFacts } from '../bucket/object-facts.ts';
import type { FileThread } from '../file-thread.ts';
import { blocksOf, type Counted, Digest } from './digest.ts';
import type { Sink } from './transfer.ts';

/** Smaller objects are fetched again from the start: going on would cost more than it saves. */
const WORTH_RESUMING = 1024 * 1024;
/** Bytes gathered before they are written. */
const GATHER = 512 * 1024;

const noteSchema = z.object({
  key: z.string(),
  bucket: z.string(),
  size: z.number(),
  etag: z.string(),
  md5: z.optional(z.string()),
  checksum: z.optional(z.object({ algorithm: z.enum(CHECKSUM_ALGORITHMS), value: z.string() })),
});

/** What a part file is of. */
export interface PartOf {
  bucket: string;
  key: string;
}

/**
 * A file on its way: `NAME.part`, and for larger ones a note beside it (`NAME.part.json`) that says which object
 * the bytes are of, so that a later run goes on where a killed one stopped.
 */
export class PartFile implements Sink {
  length = 0;
  /** The object that the bytes found there are of. */
  known: ObjectFacts | undefined;
  readonly path: string;
  private readonly file: FileHandle;
  private readonly of: PartOf;
  private readonly alone: boolean;
  private readonly thread: FileThread | undefined;
  private digest: Digest | undefined;
  private gathered: Uint8Array[] = [];
  private gatheredBytes = 0;
  private noted = false;

  private constructor(
    path: string,
    file: FileHandle,
    of: PartOf,
    { alone, thread }: { alone: boolean; thread?: FileThread | undefined },
  ) {
    this.path = path;
    this.file = file;
    this.of = of;
    this.alone = alone;
    this.thread = thread;
  }

  /** Opens the part file of a final path. What an earlier run left is gone on with where nobody else is at it. */
  static async open(
    finalPath: string,
    of: PartOf,
    options: { alone: boolean; thread?: FileThread | undefined },
  ): Promise<PartFile> {
    const path = partPath(finalPath, options.alone);
    const fresh = await openFresh(path);
    if (fresh !== undefined) return new PartFile(path, fresh, of, options);
    const { O_RDWR, O_NOFOLLOW = 0 } = constants;
    const part = new PartFile(path, await open(path, O_RDWR | O_NOFOLLOW), of, options);
    try {
      await part.recall();
      return part;
    } catch (error) {
      await part.file.close();
      throw error;
    }
  }

  /** Takes over what an earlier run left, where its note says that it is of the same key. */
  private async recall(): Promise<void> {
    const { size } = await this.file.stat();
    if (size === 0) return;
    const note = await readNote(notePath(this.path));
    if (note === undefined || note.key !== this.of.key || note.bucket !== this.of.bucket)
      return this.restart();
    this.noted = true;
    this.known = { ...NOTHING, size: note.size, etag: note.etag, md5: note.md5, checksum: note.checksum };
    // The last byte is always asked for: so the bucket says that the object is still the same.
    this.length = Math.min(size, Math.max(note.size - 1, 0));
  }

  async begin(facts: ObjectFacts): Promise<void> {
    if (this.thread === undefined) this.digest = new Digest(this.of.key, facts);
    const { size, etag, md5, checksum } = facts;
    // Without proof of its content a part of unknown history is not gone on with.
    if (size === undefined || size < WORTH_RESUMING || etag === undefined || !isProvable(facts)) return;
    const note: z.infer<typeof noteSchema> = { ...this.of, size, etag, md5, checksum };
    this.noted = true;
    await this.locally(() => writeFile(notePath(this.path), JSON.stringify(note), { mode: 0o600 }));
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.digest?.update(chunk);
    this.gathered.push(chunk);
    this.gatheredBytes += chunk.byteLength;
    this.length += chunk.byteLength;
    if (this.gatheredBytes >= GATHER) await this.locally(() => this.flush());
  }

  private async flush(): Promise<void> {
    if (this.gatheredBytes === 0) return;
    const blocks = this.gathered;
    let position = this.length - this.gatheredBytes;
    this.gathered = [];
    this.gatheredBytes = 0;
    const { bytesWritten } = await this.file.writev(blocks, position);
    position += bytesWritten;
    // A disk may take less than it was given.
    const rest = position < this.length ? Buffer.concat(blocks).subarray(bytesWritten) : undefined;
    for (let done = 0; rest !== undefined && done < rest.byteLength; ) {
      const more = await this.file.write(rest, done, rest.byteLength - done, position + done);
      done += more.bytesWritten;
    }
  }

  async restart(): Promise<void> {
    this.gathered = [];
    this.gatheredBytes = 0;
    this.length = 0;
    this.known = undefined;
    await this.locally(async () => {
      await this.forgetNote();
      await this.file.truncate(0);
    });
  }

  private async forgetNote(): Promise<void> {
    if (this.noted) await rm(notePath(this.path), { force: true });
    this.noted = false;
  }

  /** A full disk is not the bucket's doing, and no reason to try again. */
  private async locally(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      throw localError(error, this.path);
    }
  }

  /**
   * Compares what was written with what the bucket says; after a resume by reading the whole file again.
   * @throws StorageError STORAGE_CORRUPT
   */
  async prove(facts: ObjectFacts, resumed: boolean): Promise<Counted> {
    await this.locally(() => this.flush());
    if (this.thread !== undefined) return this.thread.prove(this.path, this.of.key, facts);
    if (!resumed && this.digest !== undefined) return this.digest.result();
    const digest = new Digest(this.of.key, facts);
    for await (const block of blocksOf(this.file)) digest.update(block);
    return digest.result();
  }

  /** Makes the bytes durable and gives them their final name. */
  async publish(finalPath: string): Promise<void> {
    await this.file.sync();
    await this.file.close();
    await rename(this.path, finalPath);
    await this.forgetNote();
  }

  /** Leaves what is there to a later run, where that is any use to it. */
  async keep(): Promise<void> {
    if (!this.noted || !this.alone) return this.discard();
    await this.flush();
    await this.file.close();
  }

  async discard(): Promise<void> {
    await this.file.close();
    await rm(this.path, { force: true });
    await this.forgetNote();
  }
}

/** What a file is called on its way; a run that is not alone has names of its own. */
export function partPath(finalPath: string, alone: boolean): string {
  return `${alone ? finalPath : `${finalPath}.${randomBytes(4).toString('hex')}`}.part`;
}

/** A new file, or undefined where there is one. */
async function openFresh(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'wx+', 0o600);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return undefined;
    throw error;
  }
}

const NOTHING = {
  modified: undefined,
  contentType: undefined,
  encryption: undefined,
  storageClass: undefined,
};

function notePath(partPath: string): string {
  return `${partPath}.json`;
}

async function readNote(path: string): Promise<z.infer<typeof noteSchema> | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const note = noteSchema.safeParse(parseJson(text));
    return note.success ? note.data : undefined;
  } catch {
    return undefined;
  }
}
