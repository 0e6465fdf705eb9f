import { counted } from '../kernel/duration.ts';
import { checkNewFile, formatOf, writeNewFile } from '../kernel/files/new-file.ts';
import { BYTE_ORDER_MARK, csvRecord, localDelimiter } from '../tables/csv-text.ts';
import { csvText, type TableCell } from '../tables/table-cell.ts';
import { NewWorkbook } from '../tables/xlsx/write-sheet.ts';

interface NewTableOptions {
  /** Whether to replace an existing file. */
  force: boolean;
  /** Removes secrets from a text. */
  redact: (text: string) => string;
  /** The delimiter of CSV (default: the one that spreadsheet programs in the user's language expect). */
  delimiter?: string | undefined;
  /** The name of the sheet in a workbook. */
  sheet?: string | undefined;
}

export const TABLE_FORMATS = ['xlsx', 'csv'] as const;

/** A table that becomes a file: a workbook, or CSV that spreadsheet programs open correctly. The first row is the header. */
export class NewTable {
  readonly path: string;
  readonly #options: NewTableOptions;
  readonly #workbook: NewWorkbook | undefined;
  readonly #lines: string[] = [];
  #count = 0;

  /** @throws UsageError if the name ends in neither .xlsx nor .csv, or the file can't be created. */
  constructor(path: string, options: NewTableOptions) {
    this.#workbook =
      formatOf(path, TABLE_FORMATS) === 'xlsx' ? new NewWorkbook(path, options.sheet) : undefined;
    checkNewFile(path, options.force);
    this.path = path;
    this.#options = options;
  }

  add(cells: readonly TableCell[]): void {
    this.#count++;
    const { redact, delimiter = localDelimiter() } = this.#options;
    const clean = cells.map((cell) => ({ ...cell, text: redact(cell.text) }));
    if (this.#workbook === undefined) this.#lines.push(csvRecord(clean.map(csvText), delimiter));
    else this.#workbook.add(clean);
  }

  /** Writes the file. Returns a sentence about it. @throws UsageError if it can't be written. */
  async save(): Promise<string> {
    const content = (await this.#workbook?.bytes()) ?? BYTE_ORDER_MARK + this.#lines.join('');
    await writeNewFile(this.path, content, this.#options.force);
    return createdText(this.path, this.#count - 1);
  }
}

/** Returns the notice about a file with this number of rows, not counting the header. */
export function createdText(path: string, rows: number): string {
  return `Created ${path}, ${counted(Math.max(0, rows), 'row')}.`;
}
