import { open } from 'node:fs/promises';

/** The number of bytes written at a time. Between two slices, other work can run. */
const SLICE_BYTES = 256 * 1024;

/** Writes lines to a file, which is overwritten. */
export async function writeInSlices(path: string, lines: Iterable<string | Buffer>): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    let slice: Buffer[] = [];
    let length = 0;
    for (const line of lines) {
      const bytes = typeof line === 'string' ? Buffer.from(line) : line;
      slice.push(bytes);
      length += bytes.length;
      if (length < SLICE_BYTES) continue;
      await file.appendFile(Buffer.concat(slice));
      slice = [];
      length = 0;
    }
    await file.appendFile(Buffer.concat(slice));
  } finally {
    await file.close();
  }
}
