import { createHash, hash, randomBytes } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import * as z from 'zod';
import { createCrc64Nvme } from '../../kernel/crc.ts';
import { startMd5 } from '../../kernel/digest.ts';
import { UsageError } from '../../kernel/errors.ts';
import { makePrivateFolder } from '../../kernel/files/files.ts';
import { parseJson } from '../../kernel/json.ts';
import type { ObjectWriter } from '../model.ts';
import { S3Error } from './s3-error.ts';

/*
 * The bucket is a folder and objects are files in it. Each file is named after the hash of its key, so that no key can escape the folder,
 * and `a` and `a/b` can both exist. A file contains the object's bytes, then its properties as JSON, then the length of that JSON in four
 * bytes: a single rename replaces both, so they always come from the same upload.
 */

const factsSchema = z.object({
  key: z.string(),
  size: z.number(),
  /** The ETag without quotation marks: the MD5 of the bytes in hex, if this Node can compute it. */
  etag: z.string(),
  contentType: z.string(),
  modifiedAt: z.string(),
  /** Values by header name (`x-amz-meta-…`). */
  metadata: z.record(z.string(), z.string()),
  /** Base64 checksums by header name. */
  checksums: z.record(z.string(), z.string()),
  /** True if the service wrote the object. An upload by another client removes this flag. */
  byService: z.literal(true).optional(),
});
export type StoredObjectFacts = z.infer<typeof factsSchema>;

/** The properties of an object that its upload sets. */
export type PutFacts = Pick<StoredObjectFacts, 'contentType' | 'metadata' | 'byService'>;

const LENGTH_BYTES = 4;
const OBJECT_FILE = /^[0-9a-f]{64}$/;
/** The names of temporary files. Any that exist at startup can be deleted. */
const TEMPORARY = /^\.[0-9a-f]{16}\.tmp$/;
const MAX_KEY_BYTES = 1024;

export class ObjectStore implements ObjectWriter {
  readonly #folder: string;
  readonly #now: () => number;
  readonly #objects = new Map<string, StoredObjectFacts>();
  #sorted: readonly StoredObjectFacts[] | undefined;
  #onRead = (_key: string) => Promise.resolve(true);

  private constructor(folder: string, now: () => number) {
    this.#folder = folder;
    this.#now = now;
  }

  /** Opens a folder, created if missing: indexes all its objects and deletes the files of interrupted uploads. */
  static async open(folder: string, now: () => number): Promise<ObjectStore> {
    await makePrivateFolder(folder);
    const store = new ObjectStore(folder, now);
    for (const name of await readdir(folder)) {
      if (TEMPORARY.test(name)) await rm(join(folder, name));
      else if (OBJECT_FILE.test(name)) store.#index(readFacts(join(folder, name)));
    }
    return store;
  }

  /** Returns the objects in S3's listing order: by the UTF-8 bytes of the keys. */
  list(): readonly StoredObjectFacts[] {
    this.#sorted ??= [...this.#objects.values()].sort((a, b) => compareKeys(a.key, b.key));
    return this.#sorted;
  }

  async put(key: string, body: Uint8Array, contentType: string): Promise<void> {
    await this.upload(key, [body], { contentType, metadata: {}, byService: true });
  }

  /** Stores an object once all its bytes have arrived. If `chunks` throws, nothing is stored. */
  async upload(
    key: string,
    chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
    properties: PutFacts,
  ): Promise<StoredObjectFacts> {
    if (Buffer.byteLength(key) > MAX_KEY_BYTES)
      throw new S3Error('KeyTooLongError', 'Your key is too long. It must be at most 1024 bytes of UTF-8.');
    const temporary = join(this.#folder, `.${randomBytes(8).toString('hex')}.tmp`);
    try {
      const modifiedAt = new Date(this.#now()).toISOString();
      const written = await writeObject(temporary, chunks, { key, ...properties, modifiedAt });
      // Both happen in one tick, so that lists and reads always agree with the file.
      renameSync(temporary, this.#pathOf(key));
      this.#index(written);
      return written;
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  /** Returns the properties of an object and its open file, unless the listener hides it. */
  async read(key: string): Promise<{ facts: StoredObjectFacts; file: number } | undefined> {
    const isVisible = await this.#onRead(key);
    const facts = this.#objects.get(key);
    return isVisible && facts ? { facts, file: openSync(this.#pathOf(key), 'r') } : undefined;
  }

  async get(key: string): Promise<Uint8Array | null> {
    const facts = this.#objects.get(key);
    // Synchronous, so that an upload can't replace the file in between.
    return facts ? readFileSync(this.#pathOf(key)).subarray(0, facts.size) : null;
  }

  async clear(keys?: readonly string[]): Promise<void> {
    const named = keys?.flatMap((key) => this.#objects.get(key) ?? []) ?? [...this.#objects.values()];
    for (const { key } of named.filter((facts) => facts.byService)) {
      rmSync(this.#pathOf(key), { force: true });
      this.#objects.delete(key);
    }
    this.#sorted = undefined;
  }

  onRead(listener: (key: string) => Promise<boolean>): void {
    this.#onRead = listener;
  }

  #index(facts: StoredObjectFacts): void {
    this.#objects.set(facts.key, facts);
    this.#sorted = undefined;
  }

  #pathOf(key: string): string {
    return join(this.#folder, hash('sha256', key));
  }
}

/** Returns a stream of the bytes from `start` up to, but not including, `end`. It closes the file. */
export function readRange(file: number, start: number, end: number): Readable {
  return createReadStream('', { fd: file, start, end: end - 1, highWaterMark: 256 * 1024 });
}

/** Compares two keys by their UTF-8 bytes. */
export function compareKeys(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

async function writeObject(
  path: string,
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  properties: Omit<StoredObjectFacts, 'size' | 'etag' | 'checksums'>,
): Promise<StoredObjectFacts> {
  const md5 = startMd5();
  const digest = md5 ?? createHash('sha256');
  const crc = createCrc64Nvme();
  let size = 0;
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of chunks) {
      digest.update(chunk);
      crc.update(chunk);
      size += chunk.byteLength;
      await file.writeFile(chunk);
    }
    const hex = digest.digest('hex');
    // In FIPS mode, the ETag looks like that of a multipart upload, so that no client mistakes it for an MD5.
    const etag = md5 === undefined ? `${hex.slice(0, 32)}-1` : hex;
    const checksums = { 'x-amz-checksum-crc64nvme': crc.digest().toString('base64') };
    const facts = { ...properties, size, etag, checksums };
    await file.writeFile(encodeFacts(facts));
    return facts;
  } finally {
    await file.close();
  }
}

/** Returns the part of the file after the object's bytes. */
function encodeFacts(facts: StoredObjectFacts): Buffer {
  const json = Buffer.from(JSON.stringify(facts));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(json.length);
  return Buffer.concat([json, length]);
}

function readFacts(path: string): StoredObjectFacts {
  const file = openSync(path, 'r');
  try {
    const end = fstatSync(file).size - LENGTH_BYTES;
    const length = readAt(file, end, LENGTH_BYTES).readUInt32BE();
    const facts = factsSchema.parse(parseJson(readAt(file, end - length, length).toString()));
    if (facts.size !== end - length) throw new Error("the file's size doesn't match the length it declares");
    return facts;
  } catch (error) {
    throw new UsageError(`The sandbox's stored document ${path} can't be read.`, {
      cause: error,
      hint: 'Delete the file, or start the sandbox with a different --data folder.',
    });
  } finally {
    closeSync(file);
  }
}

function readAt(file: number, position: number, length: number): Buffer {
  if (position < 0) throw new Error('the file is too short');
  const bytes = Buffer.alloc(length);
  readSync(file, bytes, 0, length, position);
  return bytes;
}
