import { createReadStream } from 'node:fs';
import { codeOf } from '../kernel/errors.ts';

/** A whole line without its line break, and the offset in bytes where the next one starts. */
export interface Line {
  bytes: Buffer;
  end: number;
}

/** The whole lines of a file from an offset on; a last line without its line break is not there yet. Missing file: none. */
export async function* linesOf(path: string, from = 0): AsyncGenerator<Line, void, undefined> {
  for await (const lines of blocksOf(path, from)) yield* lines;
}

/** Hands over the same lines, faster where there are many. */
export async function eachLine(path: string, from: number, take: (line: Line) => void): Promise<void> {
  for await (const lines of blocksOf(path, from)) for (const line of lines) take(line);
}

async function* blocksOf(path: string, from: number): AsyncGenerator<Line[], void, undefined> {
  let rest: Buffer = Buffer.alloc(0);
  let end = from;
  const stream = createReadStream(path, { start: from, highWaterMark: 256 * 1024 });
  try {
    for await (const chunk of stream) {
      const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
      const all = rest.length > 0 ? Buffer.concat([rest, bytes]) : bytes;
      const lines: Line[] = [];
      let start = 0;
      for (let at = all.indexOf(10, start); at !== -1; at = all.indexOf(10, start)) {
        end += at + 1 - start;
        lines.push({ bytes: all.subarray(start, at), end });
        start = at + 1;
      }
      rest = all.subarray(start);
      yield lines;
    }
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}
