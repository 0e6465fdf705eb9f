import { type FileHandle, open, readFile, rm, stat } from 'node:fs/promises';
import * as z from 'zod/mini';
import type { Clock } from '../kernel/clock.ts';
import { messageOf, StorageError } from '../kernel/errors.ts';
import { writeFileAtomic } from '../kernel/files.ts';
import { parseJson } from '../kernel/json.ts';
import type { Bucket, BucketObject } from './bucket.ts';
import { PaperCheck } from './paper-check.ts';

/** Which object a partial file is a part of; without it the part is worth nothing. */
const noteSchema = z.object({ bucket: z.string(), key: z.string(), etag: z.string(), size: z.number() });
type Note = z.infer<typeof noteSchema>;

/** Tries after a body broke off, each from where the last one ended; the count starts anew when bytes have come. */
const TRIES = 5;
const PAUSE_MS = 500;

export interface Fetching {
  bucket: Bucket;
  key: string;
  clock: Clock;
  signal?: AbortSignal | undefined;
  onBytes?: ((bytes: number) => void) | undefined;
}

/**
 * Fetches an object into `path`, going on with what an earlier run has left there of the same object. The SDK does not
 * retry a body, so this does: Range from the last byte, If-Match on the ETag.
 * @throws StorageError; what has arrived is kept for the next run unless it was refused.
 */
export async function fetchPart(
  path: string,
  fetching: Fetching,
): Promise<{ bytes: number; sha256: string }> {
  const check = new PaperCheck(fetching.key);
  const note = await readNote(path, fetching);
  if (note !== undefined) await check.takeFile(path);
  const file = await open(path, note === undefined ? 'w' : 'a', 0o600);
  try {
    const told = await fetchAll(file, path, check, note, fetching);
    await file.sync();
    return check.result(told);
  } catch (error) {
    const isRefused = error instanceof StorageError && error.code === 'STORAGE_CORRUPT';
    if (isRefused || (await readNote(path, fetching)) === undefined) await removePart(path);
    throw error;
  } finally {
    await file.close();
  }
}

/** Removes a partial file and the note beside it. */
export async function removePart(path: string): Promise<void> {
  await rm(path, { force: true });
  await rm(noteOf(path), { force: true });
}

async function fetchAll(
  file: FileHandle,
  path: string,
  check: PaperCheck,
  note: Note | undefined,
  fetching: Fetching,
): Promise<Told> {
  let told: Told = { size: note?.size, etag: note?.etag };
  if (note !== undefined && check.bytes === note.size) return told;
  for (let failures = 0; ; ) {
    const before = check.bytes;
    const object = await openFrom(check, told.etag, fetching);
    told = { size: object.size, etag: object.etag };
    const error = await takeBody(file, path, object, check, fetching);
    if (error === undefined) return told;
    failures = check.bytes > before ? 1 : failures + 1;
    if (failures > TRIES) throw brokenOff(fetching.key, check.bytes, error);
    await fetching.clock.sleep(PAUSE_MS * failures, fetching.signal);
  }
}

type Told = Pick<BucketObject, 'size' | 'etag'>;

/** Writes a body behind what is there. Returns why it broke off, or undefined when it is whole. */
async function takeBody(
  file: FileHandle,
  path: string,
  object: BucketObject,
  check: PaperCheck,
  fetching: Fetching,
): Promise<Error | undefined> {
  if (object.from !== check.bytes) {
    await file.truncate(0);
    check.restart();
  }
  await writeNote(path, object, fetching);
  try {
    await writeBody(file, object, check, fetching);
    return undefined;
  } catch (error) {
    if (fetching.signal?.aborted || !(error instanceof BrokenOff)) throw error;
    return error;
  }
}

/** The object from where the part ends; from its start when it is another one by now. */
async function openFrom(
  check: PaperCheck,
  etag: string | undefined,
  fetching: Fetching,
): Promise<BucketObject> {
  const { bucket, key, signal } = fetching;
  if (check.bytes === 0 || etag === undefined) return bucket.open(key, { signal });
  try {
    return await bucket.open(key, { rest: { from: check.bytes, etag }, signal });
  } catch (error) {
    if (!(error instanceof StorageError) || error.code !== 'STORAGE_CHANGED') throw error;
    return bucket.open(key, { signal });
  }
}

/** The body ended before its time, or not at all; what came of it is good. */
class BrokenOff extends Error {}

async function writeBody(
  file: FileHandle,
  object: BucketObject,
  check: PaperCheck,
  fetching: Fetching,
): Promise<void> {
  const chunks = object.body[Symbol.asyncIterator]();
  for (;;) {
    const next = await chunks.next().catch((error: unknown) => {
      throw new BrokenOff(messageOf(error), { cause: error });
    });
    if (next.done === true) break;
    await file.appendFile(next.value);
    check.take(next.value);
    fetching.onBytes?.(next.value.byteLength);
  }
  if (object.size !== undefined && check.bytes < object.size)
    throw new BrokenOff('the connection was closed');
}

function brokenOff(key: string, bytes: number, error: Error): StorageError {
  return new StorageError(
    'STORAGE_UNREACHABLE',
    `The download of ${key} broke off after ${bytes} bytes: ${error.message}.`,
    {
      cause: error,
      hint: 'Run the command again; it goes on where it ended.',
    },
  );
}

const noteOf = (path: string) => `${path}.json`;

async function writeNote(path: string, told: Told, fetching: Fetching): Promise<void> {
  const { etag, size } = told;
  if (etag === undefined || size === undefined) return rm(noteOf(path), { force: true });
  await writeFileAtomic(
    noteOf(path),
    JSON.stringify({ bucket: fetching.bucket.name, key: fetching.key, etag, size }),
  );
}

async function readNote(path: string, fetching: Fetching): Promise<Note | undefined> {
  try {
    const note = noteSchema.safeParse(parseJson(await readFile(noteOf(path), 'utf8')));
    if (!note.success || note.data.key !== fetching.key || note.data.bucket !== fetching.bucket.name)
      return undefined;
    const { size } = await stat(path);
    return size > 0 && size <= note.data.size ? note.data : undefined;
  } catch {
    return undefined;
  }
}
