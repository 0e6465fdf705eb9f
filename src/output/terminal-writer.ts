import { write } from 'node:fs';
import { promisify } from 'node:util';

const writeBytes = promisify(write);

/**
 * Writes to terminals in another thread, in order. Node writes to a terminal synchronously, so one that nobody reads (Ctrl-S, a lost
 * connection) would stop the whole process.
 */
export class TerminalWriter {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when the terminal has accepted the text. Errors are emitted by the stream. */
  write(stream: NodeJS.WriteStream & { fd: number }, text: string | Uint8Array): Promise<void> {
    this.#last = this.#last
      .then(() => writeAll(stream.fd, Buffer.from(text)))
      .catch((error: unknown) => void stream.emit('error', error));
    return this.#last;
  }

  /** Resolves when everything passed until now is written. */
  flushed(): Promise<void> {
    return this.#last;
  }
}

async function writeAll(fd: number, bytes: Buffer): Promise<void> {
  for (let rest = bytes; rest.byteLength > 0; ) {
    const { bytesWritten } = await writeBytes(fd, rest);
    rest = rest.subarray(bytesWritten);
  }
}
