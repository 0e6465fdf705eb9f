import type { IncomingMessage } from 'node:http';
import { BoundedBody } from '../../kernel/streams.ts';

/** The largest body that is read. The service's are far smaller. */
export const MAX_BODY_BYTES = 1024 * 1024;
/** Why a larger one is refused (413). */
export const TOO_LARGE = 'the body is larger than 1 MiB';
/** The maximum total size of the bodies of open requests. Anyone can send those. */
const MAX_OPEN_BYTES = 64 * 1024 * 1024;
/** The first bytes of each body don't count, so that large bodies of strangers can't keep out the service's small ones. */
const FREE_BYTES = 16 * 1024;

/** The error for a body for which there is no space now. */
export class BusyError extends Error {}

/** Reads bodies, and limits how much memory those of open requests use together. */
export class OpenBodies {
  #bytes = 0;

  /**
   * Reads a body and passes it to `use`. The body is open until that ends.
   * @throws BodyLimitError, or BusyError if too much is open
   */
  async with<T>(request: IncomingMessage, use: (raw: Buffer) => Promise<T>): Promise<T> {
    let counted = 0;
    const count = (size: number) => {
      const more = Math.max(0, size - FREE_BYTES) - counted;
      if (this.#bytes + more > MAX_OPEN_BYTES) throw new BusyError('Too many bytes are open.');
      this.#bytes += more;
      counted += more;
    };
    try {
      return await use(await readBody(request, count));
    } finally {
      this.#bytes -= counted;
    }
  }
}

/** Reads the raw bytes with events, because iterating is much slower. `count` is called with the size so far, and may throw. */
function readBody(request: IncomingMessage, count: (size: number) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const body = new BoundedBody(MAX_BODY_BYTES);
    let size = 0;
    const take = (piece: Buffer) => {
      size += piece.byteLength;
      try {
        body.add(piece);
        count(size);
      } catch (error) {
        // The rest is discarded until the connection is closed, because a paused stream would keep it open.
        request.off('data', take).resume();
        reject(error);
      }
    };
    request.on('data', take);
    request.on('end', () => resolve(body.bytes()));
    request.on('error', reject);
  });
}
