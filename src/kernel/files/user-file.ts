import { constants, createReadStream, openSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { UsageError } from '../errors.ts';

/** The maximum number of bytes read. A device or pipe may never end. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Opens a file or pipe that the user named. Opening a named pipe in the usual way would block a thread until something writes to
 * it, and the process couldn't exit. Here, only reading waits.
 * @throws the system's error, also while reading.
 */
function openUserFile(path: string): Readable {
  if (process.platform === 'win32' || !statSync(path).isFIFO()) return createReadStream(path);
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}

let stdinReader: string | undefined;

/**
 * Returns stdin for a single input, which `what` names.
 * @throws UsageError if another input has already read it.
 */
export function takeStdin(what: string): NodeJS.ReadStream {
  if (stdinReader !== undefined) {
    throw new UsageError(`Only one input can be read from stdin: the ${stdinReader} or the ${what}.`, {
      hint: 'Read one of them from a file. Nothing was sent.',
    });
  }
  stdinReader = what;
  return process.stdin;
}

/** Opens a file or pipe that the user named, or stdin for `-`. */
export function openInput(path: string, what: string): Readable {
  return path === '-' ? takeStdin(what) : openUserFile(path);
}

const open = new Set<Readable>();

/** Yields the bytes of an input, which may have to wait for a writer. `abortOpenInputs` ends it. */
export async function* chunksOf(input: Readable): AsyncGenerator<Uint8Array, void, undefined> {
  open.add(input);
  try {
    for await (const chunk of input as AsyncIterable<unknown>)
      yield chunk instanceof Uint8Array ? chunk : Buffer.from(String(chunk));
  } finally {
    open.delete(input);
  }
}

/** Makes all inputs that are being read fail with the reason. */
export function abortOpenInputs(reason: Error): void {
  for (const input of open) input.destroy(reason);
}

/** Returns the bytes of a file or pipe that the user named. @throws UsageError for more than 64 MiB; the system's error. */
export function readUserFile(path: string): Promise<Buffer> {
  return readInput(openUserFile(path), path);
}

/** Reads an input to its end. `name` is used in the error. @throws UsageError for more than 64 MiB. */
export async function readInput(input: Readable, name: string): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of chunksOf(input)) {
    bytes += piece.byteLength;
    if (bytes > MAX_BYTES)
      throw new UsageError(`${name} is larger than 64 MiB.`, { hint: 'Check the path. Nothing was sent.' });
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
