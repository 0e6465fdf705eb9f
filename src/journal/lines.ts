import { createReadStream } from 'node:fs';
import { codeOf } from '../kernel/errors.ts';

/** A whole line and the offset in bytes where the next one starts. */
export interface Line {
  text: string;
  end: number;
}

/** The whole lines of a file from an offset on; a last line without its line break is not there yet. Missing file: none. */
export async function* linesOf(path: string, from = 0): AsyncGenerator<Line, void, undefined> {
  let rest: Buffer = Buffer.alloc(0);
  let end = from;
  const stream = createReadStream(path, { start: from, highWaterMark: 256 * 1024 });
  try {
    for await (const chunk of stream) {
      const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
      const all = rest.length > 0 ? Buffer.concat([rest, bytes]) : bytes;
      let start = 0;
      for (let at = all.indexOf(10, start); at !== -1; at = all.indexOf(10, start)) {
        end += at + 1 - start;
        yield { text: all.toString('utf8', start, at), end };
        start = at + 1;
      }
      rest = all.subarray(start);
    }
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}
