import type { CellObject, Row } from 'write-excel-file/node';
import { UsageError } from '../../kernel/errors.ts';
import { safeText, type TableCell } from '../table-cell.ts';

/** The limits of a sheet, beyond which a spreadsheet program reports a damaged file. */
const MAX_ROWS = 1_048_576;
const MAX_TEXT_LENGTH = 32_767;

const FORMATS = { day: 'yyyy-mm-dd', time: 'yyyy-mm-dd hh:mm' };
/** The widths of columns, in characters. */
const MIN_WIDTH = 8;
const MAX_WIDTH = 50;

/** A workbook with one sheet, whose first row is the header. Texts stay texts: none becomes a formula. */
export class NewWorkbook {
  readonly #name: string;
  readonly #sheet: string | undefined;
  readonly #rows: Row[] = [];
  readonly #widths: number[] = [];

  /** `name` is the file's name, for errors. `sheet`: the name of the sheet (default: Sheet1). */
  constructor(name: string, sheet?: string) {
    this.#name = name;
    // The characters and the length that spreadsheet programs refuse.
    this.#sheet = sheet?.replaceAll(/[[\]/\\:*?]/g, ' ').slice(0, 31);
  }

  /** @throws UsageError for more than a sheet can contain. */
  add(cells: readonly TableCell[]): void {
    if (this.#rows.length >= MAX_ROWS) throw this.#tooLarge(`${MAX_ROWS.toLocaleString('en-US')} rows`);
    for (const [index, { text }] of cells.entries()) {
      if (text.length > MAX_TEXT_LENGTH)
        throw this.#tooLarge(`${MAX_TEXT_LENGTH.toLocaleString('en-US')} characters in a cell`);
      this.#widths[index] = Math.min(MAX_WIDTH, Math.max(this.#widths[index] ?? MIN_WIDTH, text.length + 2));
    }
    const isHeader = this.#rows.length === 0;
    this.#rows.push(
      cells.map((cell) => (isHeader ? { ...textCell(cell), fontWeight: 'bold' } : sheetCell(cell))),
    );
  }

  async bytes(): Promise<Uint8Array> {
    const { default: writeExcelFile } = await import('write-excel-file/node');
    const columns = this.#widths.map((width) => ({ width }));
    const sheet = this.#sheet ? { sheet: this.#sheet } : {};
    return writeExcelFile(this.#rows, { ...sheet, columns, stickyRowsCount: 1 }).toBuffer();
  }

  #tooLarge(limit: string): UsageError {
    return new UsageError(`Can't write ${this.#name}: a sheet has at most ${limit}.`, {
      hint: 'Use a name that ends in .csv.',
    });
  }
}

function sheetCell(cell: TableCell): CellObject | null {
  const { text, kind } = cell;
  if (text === '') return null;
  // A number with more digits, or with leading zeros, is kept as text.
  if (kind === 'number' && String(Number(text)) === text) return { value: Number(text), type: Number };
  const time = kind === 'day' || kind === 'time' ? localTime(text) : Number.NaN;
  if ((kind === 'day' || kind === 'time') && !Number.isNaN(time))
    return { value: new Date(time), type: Date, format: FORMATS[kind] };
  return textCell(cell);
}

/** Returns the day, or the time in the user's time zone, as sheets store it: without a time zone. */
function localTime(text: string): number {
  const at = new Date(text);
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text);
  return isDay ? at.getTime() : Math.floor(at.getTime() / 1000) * 1000 - at.getTimezoneOffset() * 60_000;
}

function textCell({ text, isOwn }: TableCell): CellObject {
  return { value: escaped(isOwn ? text : safeText(text)), type: String };
}

/** Characters that XML can't contain, and an underscore that would begin an escape. */
const ESCAPED = /[\u0000-\u0008\u000b-\u001f\ufffe\uffff]|_(?=x[0-9a-f]{4}_)/gi;

/** Escapes characters as spreadsheet programs do: `_x0007_`. */
function escaped(text: string): string {
  // The library looks texts up in an object, and would find its own members.
  const pattern = text in {} ? /^./ : ESCAPED;
  return text.replace(pattern, (character) => {
    const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    return `_x${code}_`;
  });
}
