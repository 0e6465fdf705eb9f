import { createHash } from 'node:crypto';
import { csvRecords, dialectOf, peek } from '../../tables/csv-records.ts';
import type { TableFindings } from '../../tables/record.ts';
import { type FileSource, openTableFile, type ReadOptions } from '../../tables/table-file.ts';
import type { SourceFacts } from '../entries.ts';
import type { SheetColumn } from './columns.ts';
import { jsonRows } from './json-rows.ts';
import type { RawRow } from './raw-row.ts';
import { tableRows } from './table-rows.ts';

/** The rows of a file and how it is written. Its columns are known once the first row was read. */
export interface RowFile {
  source: SourceFacts;
  /** Empty for JSON Lines. */
  columns: SheetColumn[];
  rows: AsyncGenerator<RawRow, void, undefined>;
}

/**
 * Opens a file of rows: CSV, JSON Lines, or a sheet.
 * @throws UsageError for any other format, or if it can't be decoded.
 */
export async function openRows(
  file: FileSource,
  options: ReadOptions,
  { problem, warning }: TableFindings,
): Promise<RowFile> {
  const table = await openTableFile(file, options);
  if (table.kind === 'sheet') {
    const source: SourceFacts = { format: 'xlsx', encoding: 'utf-8', sheet: table.sheet };
    const records = table.records({ problem, warning });
    return rowsOf(records, undefined, source);
  }
  const { head, all } = await peek(table.text);
  const { encoding } = table;
  // A CSV header never starts with a brace or bracket.
  if (/^\s*[{[]/.test(head))
    return { source: { format: 'jsonl', encoding }, columns: [], rows: jsonRows(all, problem) };
  const dialect = dialectOf(head, options.delimiter);
  const source: SourceFacts = { format: 'csv', encoding };
  return rowsOf(csvRecords(all, dialect), dialect.delimiter, source);

  function rowsOf(
    records: Parameters<typeof tableRows>[0],
    delimiter: string | undefined,
    source: SourceFacts,
  ): RowFile {
    const columns: SheetColumn[] = [];
    const onColumns = (read: readonly SheetColumn[]) => {
      columns.push(...read);
      source.columns = read.flatMap(({ path }) => (path.length > 0 ? [path.join('.')] : []));
    };
    return { source, columns, rows: tableRows(records, { delimiter, report: problem, onColumns }) };
  }
}

const FIRST_SIZE = 1_024;
/** The maximum share of used slots, which keeps searches short. */
const MAX_LOAD = 0.6;

/**
 * Maps contents to the line on which they first occur, for any number of lines at a few bytes each: a hash table of digests. Two
 * contents with the same 53 bits would be taken for one; among a hundred thousand, that is one chance in a million.
 */
export class LineIndex {
  #digests = new Float64Array(FIRST_SIZE);
  #lines = new Uint32Array(FIRST_SIZE);
  #used = 0;

  /** Returns the line on which this content first occurs. If it is new, stores this line and returns undefined. */
  firstLine(content: string, line: number): number | undefined {
    const digest = digestOf(content);
    const at = this.#find(digest);
    if (this.#digests[at] === digest) return this.#lines[at];
    this.#digests[at] = digest;
    this.#lines[at] = line;
    if (++this.#used > this.#digests.length * MAX_LOAD) this.#grow();
    return undefined;
  }

  /** Returns the slot of the digest, or the free slot where it belongs. */
  #find(digest: number): number {
    let at = digest % this.#digests.length;
    while (this.#digests[at] !== 0 && this.#digests[at] !== digest) at = (at + 1) % this.#digests.length;
    return at;
  }

  #grow(): void {
    const [digests, lines] = [this.#digests, this.#lines];
    this.#digests = new Float64Array(digests.length * 2);
    this.#lines = new Uint32Array(digests.length * 2);
    for (const [index, digest] of digests.entries()) {
      if (digest === 0) continue;
      const at = this.#find(digest);
      this.#digests[at] = digest;
      this.#lines[at] = lines[index] ?? 0;
    }
  }
}

/** Returns a digest of 53 bits that is never 0. */
function digestOf(content: string): number {
  const digest = createHash('sha1').update(content).digest();
  return digest.readUIntBE(0, 6) * 32 + ((digest[6] ?? 0) & 31) + 1;
}
