import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, read, readFileSync, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { codeOf } from '../errors.ts';

const { O_RDONLY, O_NONBLOCK = 0 } = constants;

/**
 * Opens a regular file. Anything else is refused, because opening a named pipe would block. The caller closes the descriptor.
 * Returns undefined if the file does not exist.
 * @throws an error with the code EISDIR for a folder, or ENOTFILE for a pipe, socket, or device.
 */
export function openRegular(path: string, flags: number = O_RDONLY): number | undefined {
  let file: number;
  try {
    file = openSync(path, flags | O_NONBLOCK);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  const stat = fstatSync(file);
  if (stat.isFile()) return file;
  closeSync(file);
  throw notRegular(path, stat);
}

/** Opens a file like `openRegular`, for reading without blocking the process. */
export async function openRegularFile(path: string): Promise<FileHandle | undefined> {
  const file = await ifExists(open(path, O_RDONLY | O_NONBLOCK));
  const stat = await file?.stat();
  if (file === undefined || stat?.isFile()) return file;
  await file.close();
  throw notRegular(path, stat);
}

function notRegular(path: string, stat: Stats | undefined): Error {
  return Object.assign(new Error(`${path} is not a file`), {
    code: stat?.isDirectory() ? 'EISDIR' : 'ENOTFILE',
    syscall: 'open',
  });
}

/** Waits for an operation. Returns undefined if its file or folder does not exist. */
export async function ifExists<T>(operation: Promise<T>): Promise<T | undefined> {
  try {
    return await operation;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Returns the bytes of a file without waiting: for small files that every command needs. @throws ENOENT if it does not exist. */
export function readRegularSync(path: string): Buffer {
  const file = openRegular(path);
  if (file === undefined) throw Object.assign(new Error(`${path} does not exist`), { code: 'ENOENT' });
  try {
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** Returns the text of a file, or undefined if it does not exist. */
export async function readRegular(path: string): Promise<string | undefined> {
  return (await readRegularBytes(path))?.toString('utf8');
}

/** Returns at most `maxBytes` bytes of a file, or undefined if it does not exist. */
export async function readRegularBytes(
  path: string,
  { flags, maxBytes }: { flags?: number | undefined; maxBytes?: number } = {},
): Promise<Buffer | undefined> {
  const file = openRegular(path, flags);
  if (file === undefined) return undefined;
  try {
    return await readOpened(file, maxBytes);
  } finally {
    closeSync(file);
  }
}

/** Returns at most `maxBytes` bytes of an open file. */
export async function readOpened(file: number, maxBytes?: number): Promise<Buffer> {
  const blocks: Uint8Array[] = [];
  for await (const block of blocksOf(file, maxBytes)) blocks.push(Buffer.from(block));
  return Buffer.concat(blocks);
}

/** Returns the SHA-256 of an open file, or of its first bytes. */
export async function sha256Of(file: number, bytes?: number): Promise<string> {
  const hash = createHash('sha256');
  for await (const block of blocksOf(file, bytes)) hash.update(block);
  return hash.digest('hex');
}

const BLOCK = 256 * 1024;
const readAt = promisify(read);
/** No line that esign writes is longer. In a damaged file, one may never end. */
const MAX_LINE = 64 * 1024 * 1024;

/** Returns a larger copy of a buffer that a line has filled. @throws ETOOLARGE for a line of 64 MiB. */
export function roomForLine(room: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
  if (room.length < MAX_LINE) return Buffer.concat([room], room.length * 2);
  throw Object.assign(new Error('a line is longer than 64 MiB'), { code: 'ETOOLARGE', syscall: 'read' });
}

/** Yields the bytes of an open file from `start` to `end` in blocks. A block is only valid until the next one. */
export async function* blocksOf(
  file: number,
  end = Number.POSITIVE_INFINITY,
  start = 0,
): AsyncGenerator<Buffer, void, undefined> {
  const block = Buffer.allocUnsafe(Math.max(0, Math.min(BLOCK, end - start)));
  for (let position = start; position < end; ) {
    const { bytesRead } = await readAt(file, block, 0, Math.min(block.length, end - position), position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield block.subarray(0, bytesRead);
  }
}
