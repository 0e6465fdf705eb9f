import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { codeOf } from '../../kernel/errors.ts';
import { syncFolder } from '../../kernel/files.ts';
import { parseJson } from '../../kernel/json.ts';

/*
 * Objects in a folder. Each is one file, named by the hash of its key so that no key can leave the folder and
 * `a` and `a/b` can both exist: the bytes, then what is known of them as JSON, then that JSON's length in four bytes.
 * One file means one rename: bytes and facts are always of the same upload.
 */

const factsSchema = z.object({
  key: z.string(),
  size: z.number(),
  /** Hex MD5 of the bytes. */
  etag: z.string(),
  contentType: z.string(),
  modifiedAt: z.string(),
  metadata: z.record(z.string(), z.string()),
  /** Header name (`x-amz-checksum-crc32`) to value. */
  checksums: z.record(z.string(), z.string()),
});
export type ObjectFacts = z.infer<typeof factsSchema>;

export interface StoredObject {
  facts: ObjectFacts;
  /** The bytes from `start` up to but without `end`; closes the file at its end. */
  read(start: number, end: number): AsyncGenerator<Uint8Array>;
  close(): Promise<void>;
}

export type PutFacts = Pick<ObjectFacts, 'contentType' | 'metadata'>;

const TRAILER_BYTES = 4;
const READ_BYTES = 256 * 1024;
const BUCKET_NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;

export class ObjectStore {
  private readonly folder: string;
  private readonly now: () => number;
  /** Keys by bucket, read from the folder when first listed. */
  private readonly indexes = new Map<string, Promise<Map<string, ObjectFacts>>>();

  constructor(folder: string, now: () => number) {
    this.folder = folder;
    this.now = now;
  }

  async makeBucket(name: string): Promise<void> {
    await mkdir(join(this.folder, name), { recursive: true, mode: 0o700 });
  }

  /** True for a name that can be one and for which there is a folder. */
  async hasBucket(name: string): Promise<boolean> {
    if (!BUCKET_NAME.test(name)) return false;
    return stat(join(this.folder, name)).then(
      (found) => found.isDirectory(),
      () => false,
    );
  }

  async buckets(): Promise<string[]> {
    return (await readdir(this.folder)).filter((name) => BUCKET_NAME.test(name)).sort();
  }

  /**
   * Stores an object once its body has arrived whole; `check` may refuse it before it becomes visible
   * and returns the checksums to keep.
   */
  async put(
    bucket: string,
    key: string,
    body: AsyncIterable<Uint8Array>,
    facts: PutFacts,
    check: () => Record<string, string> = () => ({}),
  ): Promise<ObjectFacts> {
    const temporary = join(this.folder, bucket, `.${randomBytes(8).toString('hex')}.tmp`);
    try {
      const md5 = createHash('md5');
      const file = await open(temporary, 'wx', 0o600);
      let stored: ObjectFacts;
      try {
        let size = 0;
        for await (const chunk of body) {
          md5.update(chunk);
          size += chunk.byteLength;
          await file.writeFile(chunk);
        }
        const modifiedAt = new Date(this.now()).toISOString();
        stored = { key, size, etag: md5.digest('hex'), modifiedAt, ...facts, checksums: check() };
        await file.writeFile(trailerOf(stored));
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, this.pathOf(bucket, key));
      await syncFolder(join(this.folder, bucket));
      (await this.indexes.get(bucket))?.set(key, stored);
      return stored;
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  /** The object, open for reading; undefined when there is none. */
  async open(bucket: string, key: string): Promise<StoredObject | undefined> {
    try {
      const file = await open(this.pathOf(bucket, key), 'r');
      return {
        facts: await readFacts(file),
        read: (start, end) => readRange(file, start, end),
        close: () => file.close(),
      };
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  async remove(bucket: string, key: string): Promise<void> {
    await rm(this.pathOf(bucket, key), { force: true });
    (await this.indexes.get(bucket))?.delete(key);
  }

  /** All objects of a bucket in the order of their keys' UTF-8 bytes. */
  async list(bucket: string): Promise<ObjectFacts[]> {
    let index = this.indexes.get(bucket);
    if (index === undefined) {
      index = this.scan(bucket);
      this.indexes.set(bucket, index);
    }
    return [...(await index).values()].sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));
  }

  private async scan(bucket: string): Promise<Map<string, ObjectFacts>> {
    const found = new Map<string, ObjectFacts>();
    for (const name of await readdir(join(this.folder, bucket))) {
      if (name.startsWith('.')) continue;
      const file = await open(join(this.folder, bucket, name), 'r');
      try {
        const facts = await readFacts(file);
        found.set(facts.key, facts);
      } finally {
        await file.close();
      }
    }
    return found;
  }

  private pathOf(bucket: string, key: string): string {
    return join(this.folder, bucket, createHash('sha256').update(key).digest('hex'));
  }
}

function trailerOf(facts: ObjectFacts): Buffer {
  const json = Buffer.from(JSON.stringify(facts));
  const length = Buffer.alloc(TRAILER_BYTES);
  length.writeUInt32BE(json.length);
  return Buffer.concat([json, length]);
}

async function readFacts(file: FileHandle): Promise<ObjectFacts> {
  const { size } = await file.stat();
  const length = Buffer.alloc(TRAILER_BYTES);
  await file.read(length, 0, TRAILER_BYTES, size - TRAILER_BYTES);
  const json = Buffer.alloc(length.readUInt32BE());
  await file.read(json, 0, json.length, size - TRAILER_BYTES - json.length);
  return factsSchema.parse(parseJson(json.toString('utf8')));
}

async function* readRange(file: FileHandle, start: number, end: number): AsyncGenerator<Uint8Array> {
  try {
    let at = start;
    while (at < end) {
      const chunk = Buffer.alloc(Math.min(READ_BYTES, end - at));
      const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
      if (bytesRead === 0) throw new Error('the object file ends too early');
      at += bytesRead;
      yield chunk.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}
