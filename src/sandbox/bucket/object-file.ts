import { createHash, randomBytes } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, renameSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { startMd5 } from '../../kernel/digest.ts';
import { syncFolder } from '../../kernel/files/files.ts';
import { parseJson } from '../../kernel/json.ts';

/*
 * An object is stored as one file: its bytes, then its metadata as JSON, then the length of that JSON in four bytes. A single file needs a
 * single rename, so bytes and metadata always come from the same upload.
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
  /** Other headers that are returned with the object, such as content-disposition and cache-control. */
  headers: z.record(z.string(), z.string()).default({}),
  /** Base64 checksums by header name (`x-amz-checksum-crc32`). */
  checksums: z.record(z.string(), z.string()),
  /** True if the service wrote the object. An upload by another client removes this flag. */
  byService: z.literal(true).optional(),
});
export type StoredObjectFacts = z.infer<typeof factsSchema>;

export interface StoredObject {
  facts: StoredObjectFacts;
  /** Yields the bytes of a range. Can be called repeatedly until `close`. */
  read(start: number, end: number): AsyncGenerator<Uint8Array>;
  close(): Promise<void>;
}

const LENGTH_BYTES = 4;
/** The size of the first read, large enough for the metadata of nearly every object. */
const TAIL_BYTES = 4_096;
const READ_BYTES = 256 * 1024;
/** A buffer shared by synchronous reads, which can't overlap. */
const SCRATCH = Buffer.alloc(TAIL_BYTES);

/** The names of temporary files. Any that exist at startup can be deleted. */
export const TEMPORARY = /^\.[0-9a-f]{16}\.tmp$/;

/**
 * Writes a file that gets its final name only when it is complete and on disk. `describe` gets the size and ETag and may throw to reject
 * the upload. `publish` may throw until the tick of the rename.
 */
export async function writeObjectFile(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  describe: (written: { size: number; etag: string }) => StoredObjectFacts,
  publish: (facts: StoredObjectFacts, rename: () => void) => void = (_, rename) => rename(),
): Promise<StoredObjectFacts> {
  const temporary = join(dirname(path), `.${randomBytes(8).toString('hex')}.tmp`);
  try {
    const facts = await writeTemporary(temporary, chunks, describe);
    publish(facts, () => renameSync(temporary, path));
    await syncFolder(dirname(path));
    return facts;
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function writeTemporary(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  describe: (written: { size: number; etag: string }) => StoredObjectFacts,
): Promise<StoredObjectFacts> {
  const md5 = startMd5();
  const hash = md5 ?? createHash('sha256');
  let size = 0;
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of chunks) {
      hash.update(chunk);
      size += chunk.byteLength;
      await file.writeFile(chunk);
    }
    const digest = hash.digest('hex');
    // In FIPS mode, the ETag looks like that of a multipart upload, so that no client mistakes it for an MD5.
    const facts = describe({ size, etag: md5 === undefined ? `${digest.slice(0, 32)}-1` : digest });
    await file.writeFile(encodeFacts(facts));
    await file.sync();
    return facts;
  } finally {
    await file.close();
  }
}

/** Opens an object's file. @throws the system's error if it doesn't exist, an Error if it isn't valid. */
export async function openObjectFile(path: string): Promise<StoredObject> {
  const file = await open(path, 'r');
  try {
    const facts = await readFacts(file);
    return { facts, read: (start, end) => readRange(file, start, end), close: () => file.close() };
  } catch (error) {
    await file.close();
    throw unreadable(path, error);
  }
}

/** Reads only the metadata, synchronously. At startup, with thousands of files to read, this is many times as fast. */
export function readObjectFactsAtOnce(path: string): StoredObjectFacts {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const tail = (wanted: number) => {
      const length = Math.min(size, wanted);
      const bytes = length <= SCRATCH.length ? SCRATCH.subarray(0, length) : Buffer.alloc(length);
      readSync(file, bytes, 0, bytes.length, size - bytes.length);
      return bytes;
    };
    const last = tail(TAIL_BYTES);
    const length = factsLength(last);
    return decodeFacts(length <= last.length ? last : tail(length), length, size);
  } catch (error) {
    throw unreadable(path, error);
  } finally {
    closeSync(file);
  }
}

/** Returns the part of the file after the object's bytes. */
export function encodeFacts(facts: StoredObjectFacts): Buffer {
  const json = Buffer.from(JSON.stringify(facts));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(json.length);
  return Buffer.concat([json, length]);
}

async function readFacts(file: FileHandle): Promise<StoredObjectFacts> {
  const { size } = await file.stat();
  const last = await readTail(file, size, TAIL_BYTES);
  const length = factsLength(last);
  return decodeFacts(length <= last.length ? last : await readTail(file, size, length), length, size);
}

/** Returns the number of bytes at the end of the file that don't belong to the object. */
function factsLength(last: Buffer): number {
  if (last.length < LENGTH_BYTES) throw new Error('the file is too short');
  return last.readUInt32BE(last.length - LENGTH_BYTES) + LENGTH_BYTES;
}

function decodeFacts(last: Buffer, length: number, size: number): StoredObjectFacts {
  const json = last.toString('utf8', last.length - length, last.length - LENGTH_BYTES);
  const facts = factsSchema.parse(parseJson(json));
  if (facts.size !== size - length) throw new Error("the file's size doesn't match the length it declares");
  return facts;
}

function unreadable(path: string, cause: unknown): Error {
  return new Error(`the stored object ${path} cannot be read`, { cause });
}

/** Reads the last bytes of a file, or all of them if it has fewer. */
async function readTail(file: FileHandle, size: number, wanted: number): Promise<Buffer> {
  const bytes = Buffer.alloc(Math.min(size, wanted));
  await file.read(bytes, 0, bytes.length, size - bytes.length);
  return bytes;
}

async function* readRange(file: FileHandle, start: number, end: number): AsyncGenerator<Uint8Array> {
  for (let at = start; at < end; ) {
    const chunk = Buffer.alloc(Math.min(READ_BYTES, end - at));
    const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) throw new Error('the object file ends too early');
    at += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}
