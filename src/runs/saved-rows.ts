import { type FileHandle, open } from 'node:fs/promises';
import { UsageError } from '../kernel/errors.ts';
import { isRecord } from '../kernel/json.ts';
import { readLine, writeLine } from '../lines/checksummed-line.ts';
import { linesOf } from '../lines/read-lines.ts';
import type { RunRow } from './run-row.ts';

const CHUNK = 256 * 1024;

/** Writes the checked rows of a run to a private file, so that a resume needs neither the user's file nor the flags. */
export class SavedRowsWriter {
  readonly #file: FileHandle;
  #text = '';

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async create(path: string): Promise<SavedRowsWriter> {
    return new SavedRowsWriter(await open(path, 'wx', 0o600));
  }

  async add(row: object): Promise<void> {
    this.#text += writeLine(row);
    if (this.#text.length >= CHUNK) await this.#flush();
  }

  /** Closes the file. Everything is on disk when this resolves. */
  async close(): Promise<void> {
    try {
      await this.#flush();
      await this.#file.sync();
    } finally {
      await this.#file.close();
    }
  }

  async #flush(): Promise<void> {
    const text = this.#text;
    this.#text = '';
    await this.#file.appendFile(text);
  }
}

/**
 * Yields the rows of a plan, in order. Yields none if the file doesn't exist and `total` is 0.
 * @throws UsageError at a damaged line, or when there are fewer rows than the total.
 */
export async function* readSavedRows(path: string, total = 0): AsyncGenerator<RunRow, void, undefined> {
  let number = 0;
  for await (const { bytes } of linesOf(path)) {
    number++;
    const row = readLine(bytes);
    if (!isRow(row) || row.row !== number) throw unusableRowError(number, path, 'damaged');
    yield row;
  }
  if (number < total) throw unusableRowError(number + 1, path, 'missing');
}

function unusableRowError(row: number, path: string, why: string): UsageError {
  return new UsageError(`Row ${row} of ${path} is ${why}, so the run can't continue.`, {
    hint: 'Copy the unfinished rows into a new file. `esign bulk export` lists them.',
  });
}

/** Returns true for a row. The checksum has shown that the line is as esign wrote it. */
function isRow(value: unknown): value is RunRow {
  return isRecord(value) && typeof value.row === 'number' && isRecord(value.envelope);
}
