import { createHash, randomBytes } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, renameSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { startMd5 } from '../../kernel/digest.ts';
import { syncFolder } from '../../kernel/files/files.ts';
import { parseJson } from '../../kernel/json.ts';

/*
 * An object as one file: the bytes, then what is known of them as JSON, then that JSON's
 * length in four bytes. One file means one rename: bytes and facts are always of the same upload.
 */

const factsSchema = z.object({
  key: z.string(),
  size: z.number(),
  /** Without quotation marks: hex MD5 of the bytes, where this Node can compute it. */
  etag: z.string(),
  contentType: z.string(),
  modifiedAt: z.string(),
  /** Header name (`x-amz-meta-…`) to value. */
  metadata: z.record(z.string(), z.string()),
  /** Other headers that come back with the object: content-disposition, cache-control … */
  headers: z.record(z.string(), z.string()).default({}),
  /** Header name (`x-amz-checksum-crc32`) to base64. */
  checksums: z.record(z.string(), z.string()),
  /** The service wrote it; an upload by anybody else replaces the mark, too. */
  byService: z.literal(true).optional(),
});
export type StoredObjectFacts = z.infer<typeof factsSchema>;

export interface StoredObject {
  facts: StoredObjectFacts;
  /** Those bytes; can be read more than once, not after `close`. */
  read(start: number, end: number): AsyncGenerator<Uint8Array>;
  close(): Promise<void>;
}

const LENGTH_BYTES = 4;
/** Enough for the facts of nearly every object in one read. */
const TAIL_BYTES = 4_096;
const READ_BYTES = 256 * 1024;
/** For one read at a time that nobody can come between. */
const SCRATCH = Buffer.alloc(TAIL_BYTES);

/** How a temporary file is named: whatever is left of one at a start can go. */
export const TEMPORARY = /^\.[0-9a-f]{16}\.tmp$/;

/**
 * Writes a file and makes it appear under its name only when it is whole and on disk. `describe` gets
 * size and ETag and may throw to refuse; `publish` may throw as late as in the tick of the rename.
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
    // In FIPS mode, the ETag looks like that of an upload in parts, which nobody takes for an MD5.
    const facts = describe({ size, etag: md5 === undefined ? `${digest.slice(0, 32)}-1` : digest });
    await file.writeFile(encodeFacts(facts));
    await file.sync();
    return facts;
  } finally {
    await file.close();
  }
}

/** Opens such a file. @throws the system's error when it is not there, an Error when it is not one. */
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

/** Only what is known of the bytes, without giving others their turn: at a start, with thousands to read, many times as fast. */
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

/** What follows the bytes in the file. */
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

/** How many bytes at the end of the file are not the object's. */
function factsLength(last: Buffer): number {
  if (last.length < LENGTH_BYTES) throw new Error('the file is too short');
  return last.readUInt32BE(last.length - LENGTH_BYTES) + LENGTH_BYTES;
}

function decodeFacts(last: Buffer, length: number, size: number): StoredObjectFacts {
  const json = last.toString('utf8', last.length - length, last.length - LENGTH_BYTES);
  const facts = factsSchema.parse(parseJson(json));
  if (facts.size !== size - length) throw new Error('the file is not as long as it says');
  return facts;
}

function unreadable(path: string, cause: unknown): Error {
  return new Error(`the stored object ${path} cannot be read`, { cause });
}

/** The file's last bytes, all of them when it has fewer. */
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
