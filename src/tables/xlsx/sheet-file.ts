import { counted } from '../../kernel/duration.ts';
import { UsageError } from '../../kernel/errors.ts';
import { nearest } from '../../kernel/text/nearest.ts';
import { columnLetters } from '../column-letters.ts';
import type { TableFile, TableFindings, TableRecord } from '../table-types.ts';
import { SHEET_LIMITS } from './limits.ts';
import { Package } from './package.ts';
import { readStrings, readStyles } from './parts.ts';
import { type MergedRange, type SheetCell, SheetReader, type SheetRow } from './sheet-reader.ts';
import { readWorkbook, type SheetRef, type Workbook } from './workbook.ts';
import { readXml } from './xml.ts';

/**
 * Opens a sheet of an .xlsx file: the one with that name, or the first visible one.
 * @throws UsageError when the file is damaged, is too large, is not a spreadsheet, or has no such sheet.
 */
export async function openSheet(
  bytes: AsyncIterable<Uint8Array>,
  name: string,
  sheetName: string | undefined,
): Promise<TableFile> {
  const file = await Package.open(bytes, name);
  return file.reading(async () => {
    const workbook = await readWorkbook(file, name);
    const sheet = sheetNamed(workbook.sheets, sheetName, name);
    return {
      format: 'xlsx',
      encoding: 'utf-8',
      sheet: sheet.name,
      records: (findings) => recordsOf({ file, name, workbook, sheet }, findings),
    };
  });
}

function sheetNamed(sheets: readonly SheetRef[], sheetName: string | undefined, file: string): SheetRef {
  const found =
    sheetName === undefined
      ? (sheets.find(({ isHidden }) => !isHidden) ?? sheets[0])
      : (sheets.find(({ name }) => name === sheetName) ??
        sheets.find(({ name }) => name.toLowerCase() === sheetName.trim().toLowerCase()));
  if (found !== undefined) return found;
  const names = sheets.map(({ name }) => name);
  const suggestion = nearest(sheetName ?? '', names);
  throw new UsageError(`${file} has no sheet "${sheetName ?? ''}".`, {
    hint: suggestion === undefined ? `Its sheets are ${names.join(', ')}.` : `Did you mean ${suggestion}?`,
  });
}

interface Sheet {
  file: Package;
  name: string;
  workbook: Workbook;
  sheet: SheetRef;
}

/** Yields the rows that are not empty, starting with the header. Each is at least as wide as the header. */
async function* recordsOf(
  { file, name, workbook, sheet }: Sheet,
  findings: TableFindings,
): AsyncGenerator<TableRecord, void, undefined> {
  const { is1904 } = workbook;
  const strings = await file.reading(() => readStrings(file, workbook.strings));
  const styles = await file.reading(() => readStyles(file, workbook.styles));
  const reader = new SheetReader({ strings, styles, is1904 });
  const check = new SheetCheck(reader, findings);
  const pieces = readXml(file.part(sheet.path), reader);
  const checkSize = sizeCheck(name);
  for (;;) {
    const next = await file.reading(() => pieces.next());
    for (const row of reader.rows.splice(0)) {
      const cells = textsOf(row.cells);
      if (cells.length === 0 && !row.cells.some(({ isUnknown }) => isUnknown)) continue;
      checkSize(cells);
      check.add(row, cells);
      while (cells.length < check.width) cells.push('');
      yield { cells, kinds: row.cells.map(({ kind }) => kind), line: row.number };
    }
    if (next.done) break;
  }
  check.finish();
}

/** Returns a function that counts the cells of a sheet. It throws a UsageError if the sheet is larger than the limits. */
function sizeCheck(name: string): (cells: readonly string[]) => void {
  let [rows, characters] = [0, 0];
  return (cells) => {
    if (rows++ > SHEET_LIMITS.rows)
      throw new UsageError(`${name} has more than ${counted(SHEET_LIMITS.rows, 'row')}.`, {
        hint: 'Split it into several files. Nothing was sent.',
      });
    for (const { length } of cells) characters += length;
    if (characters > SHEET_LIMITS.characters)
      throw new UsageError(
        `${name} contains more than ${SHEET_LIMITS.characters / 1024 / 1024} million characters.`,
        { hint: 'Shorten the longest texts, or split the file. Nothing was sent.' },
      );
  };
}

/** Returns the texts of cells, without empty ones at the end. */
function textsOf(cells: readonly SheetCell[]): string[] {
  const texts = cells.map(({ text }) => text);
  while (texts.length > 0 && texts.at(-1)?.trim() === '') texts.pop();
  return texts;
}

/** Finds differences between what a person sees in a sheet and what a program reads. */
class SheetCheck {
  readonly #reader: SheetReader;
  readonly #findings: TableFindings;
  #header: readonly string[] = [];
  #headerRow = 0;
  #lastRow = 0;
  #hiddenRows = 0;
  #firstHidden = 0;

  constructor(reader: SheetReader, findings: TableFindings) {
    this.#reader = reader;
    this.#findings = findings;
  }

  /** Number of columns up to the last one of the header. */
  get width(): number {
    return this.#header.length;
  }

  add({ number, cells, isHidden }: SheetRow, texts: readonly string[]): void {
    this.#lastRow = number;
    if (this.#headerRow === 0) {
      [this.#header, this.#headerRow] = [[...texts], number];
      return;
    }
    if (isHidden && this.#hiddenRows++ === 0) this.#firstHidden = number;
    for (const [column, { text, isUnknown, isRounded }] of cells.entries()) {
      const name = this.#header[column]?.trim() ?? '';
      if (name === '') continue;
      const place = { line: number, column: name };
      if (isUnknown)
        this.#findings.problem({
          ...place,
          text: 'the file has no value for this formula; open and save it in a spreadsheet program',
        });
      if (isRounded)
        this.#findings.warning({
          ...place,
          text: `${text} is stored as a number, and spreadsheets keep only 15 digits; format the column as text and enter it again`,
        });
    }
  }

  finish(): void {
    for (const range of this.#reader.merged) this.#checkMerged(range);
    if (this.#hiddenRows > 0) {
      const are = this.#hiddenRows === 1 ? 'is' : 'are';
      const text = `${counted(this.#hiddenRows, 'row')} ${are} hidden but included; delete the ones you don't want`;
      this.#findings.warning({ line: this.#firstHidden, column: '', text });
    }
    for (const [column, cell] of this.#header.entries()) {
      const isHidden = this.#reader.hiddenColumns.some(([from, to]) => column >= from && column <= to);
      if (!isHidden || cell.trim() === '') continue;
      const text = `column ${columnLetters(column)} is hidden but included`;
      this.#findings.warning({ line: this.#headerRow, column: cell.trim(), text });
    }
  }

  #checkMerged({ text, from, to }: MergedRange): void {
    if (from.row > this.#lastRow || to.row < this.#headerRow || from.column >= this.width) return;
    const isHeader = from.row <= this.#headerRow;
    const what = isHeader ? 'unmerge them and name each column' : 'unmerge them and fill in each cell';
    this.#findings.problem({ line: from.row, column: '', text: `the cells ${text} are merged; ${what}` });
  }
}
