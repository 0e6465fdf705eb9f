import { timeText } from './dates.ts';
import { SHEET_LIMITS } from './limits.ts';
import { type NumberKind, textInFormat } from './number-formats.ts';
import { StringItem, unescaped } from './parts.ts';
import { isXmlTrue } from './workbook.ts';
import type { Attribute, XmlHandler } from './xml.ts';

export interface SheetCell {
  text: string;
  /** A number or a day, if the text shows its exact value. */
  kind?: 'number' | 'day';
  /** True for a formula whose value is not in the file. */
  isUnknown?: boolean;
  /** True for a number with more digits than spreadsheets keep. */
  isRounded?: boolean;
}

export interface SheetRow {
  /** The row number in the spreadsheet, from 1. */
  number: number;
  cells: SheetCell[];
  isHidden: boolean;
}

/** A merged range. Rows count from 1, columns from 0. */
export interface MergedRange {
  text: string;
  from: { row: number; column: number };
  to: { row: number; column: number };
}

const EMPTY: SheetCell = { text: '' };
const NO_CELL = { column: -1, type: '', style: 0, value: '', hasValue: false, hasFormula: false };
/** Limit of stored ranges. More aren't needed, since only the first ones are reported. */
const MAX_RANGES = 1_000;
const LONG_NUMBER = /^-?\d{16,}$/;

/** Collects the rows of a sheet while its XML is parsed. */
export class SheetReader implements XmlHandler {
  /** Complete rows, which the caller removes. */
  rows: SheetRow[] = [];
  readonly merged: MergedRange[] = [];
  readonly hiddenColumns: (readonly [number, number])[] = [];
  readonly #context: { strings: readonly string[]; styles: readonly NumberKind[]; is1904: boolean };
  readonly #item = new StringItem();
  #row: SheetRow = { number: 0, cells: [], isHidden: false };
  #cell = { ...NO_CELL };
  #tag = '';

  constructor(context: { strings: readonly string[]; styles: readonly NumberKind[]; is1904: boolean }) {
    this.#context = context;
  }

  readonly open = (tag: string, attribute: Attribute): void => {
    this.#tag = tag;
    this.#item.open(tag);
    if (tag === 'row') this.#openRow(attribute);
    else if (tag === 'c') this.#openCell(attribute);
    else if (tag === 'f') this.#cell.hasFormula = true;
    else if (tag === 'v') this.#cell.hasValue = true;
    else if (tag === 'mergeCell') this.#addMerged(attribute('ref') ?? '');
    else if (tag === 'col' && isXmlTrue(attribute('hidden')))
      this.hiddenColumns.push([Number(attribute('min')) - 1, Number(attribute('max')) - 1]);
  };

  readonly text = (text: string): void => {
    if (this.#tag === 'v') this.#cell.value += text;
    else this.#item.add(text);
  };

  readonly close = (tag: string): void => {
    this.#tag = '';
    this.#item.close(tag);
    if (tag === 'c') this.#closeCell();
    if (tag === 'row') this.rows.push(this.#row);
  };

  #openRow(attribute: Attribute): void {
    const number = Number(attribute('r') ?? this.#row.number + 1);
    this.#row = { number, cells: [], isHidden: isXmlTrue(attribute('hidden')) };
    this.#cell = { ...NO_CELL };
  }

  #openCell(attribute: Attribute): void {
    const column = columnOf(attribute('r') ?? '') ?? this.#cell.column + 1;
    const style = Number(attribute('s') ?? 0);
    this.#cell = { ...NO_CELL, column, type: attribute('t') ?? 'n', style };
  }

  #closeCell(): void {
    const { cells, number } = this.#row;
    const { column } = this.#cell;
    const cell = this.#read();
    // Some programs write every formatted cell of a row, up to the last column of the sheet.
    if (cell.text === '' && !cell.isUnknown) return;
    if (column >= SHEET_LIMITS.columns)
      throw new Error(`row ${number} has more than ${SHEET_LIMITS.columns} columns`);
    while (cells.length < column) cells.push(EMPTY);
    cells[column] = cell;
  }

  #read(): SheetCell {
    const { type, value, hasValue, hasFormula } = this.#cell;
    const inline = this.#item.take();
    if (hasFormula && !hasValue) return { text: '', isUnknown: true };
    switch (type) {
      case 's':
        return { text: value === '' ? '' : this.#shown(this.#sharedString(Number(value))) };
      case 'inlineStr':
        return { text: this.#shown(inline) };
      case 'b':
        return { text: isXmlTrue(value) ? 'TRUE' : 'FALSE' };
      case 'd':
        return { text: value.replace(/T00:00:00(?:\.0+)?Z?$/, '') };
      case 'n':
        return this.#number(value);
      default:
        return { text: this.#shown(unescaped(value)) };
    }
  }

  /** @throws Error if the file doesn't contain the string. An empty cell could go unnoticed. */
  #sharedString(index: number): string {
    const text = this.#context.strings[index];
    if (text === undefined) throw new Error(`row ${this.#row.number} refers to a text that is missing`);
    return text;
  }

  #number(value: string): SheetCell {
    if (value === '') return EMPTY;
    const plain = plainNumber(value);
    if (LONG_NUMBER.test(plain)) return { text: plain, isRounded: true };
    const kind = this.#kind();
    if (kind === 'number') return { text: plain, kind };
    if (typeof kind === 'object') return { text: textInFormat(kind.code, Number(value)) ?? plain };
    const text = timeText(Number(value), kind, this.#context.is1904) ?? plain;
    return kind === 'date' ? { text, kind: 'day' } : { text };
  }

  #kind(): NumberKind {
    return this.#context.styles[this.#cell.style] ?? 'number';
  }

  /** Returns a text as the format of the cell shows it. */
  #shown(text: string): string {
    const kind = this.#kind();
    const isFormatted = typeof kind === 'object' && kind.code.includes('@') && text !== '';
    return (isFormatted ? textInFormat(kind.code, text) : undefined) ?? text;
  }

  #addMerged(text: string): void {
    const [, columnA = '', rowA, columnB = '', rowB] = /^([A-Z]+)(\d+):([A-Z]+)(\d+)$/.exec(text) ?? [];
    const [from, to] = [columnOf(columnA), columnOf(columnB)];
    if (from === undefined || to === undefined || this.merged.length >= MAX_RANGES) return;
    const range = { text, from: { row: Number(rowA), column: from }, to: { row: Number(rowB), column: to } };
    this.merged.push(range);
  }
}

/** Returns the column of a reference such as AB12, from 0. */
function columnOf(reference: string): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference)?.[0];
  if (letters === undefined) return undefined;
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

const NUMBER = /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d{1,3}))?$/i;
/** Number of digits that spreadsheets keep. Further digits are artifacts of the binary form. */
const MAX_DIGITS = 15;

/** Returns a number without an exponent, rounded as spreadsheets round it for display. */
function plainNumber(value: string): string {
  const number = expanded(value.trim());
  if (number === undefined) return value;
  const [whole = '', fraction = ''] = number.replace('-', '').split('.');
  const digits = `${whole}${fraction}`.replace(/^0+/, '').length;
  if (fraction === '' || digits <= MAX_DIGITS) return number;
  return expanded(Number(number).toPrecision(MAX_DIGITS)) ?? number;
}

/** Moves the decimal point within the written digits, so that no digit is lost. */
function expanded(value: string): string | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(value) ?? [];
  if (`${whole}${fraction}` === '') return undefined;
  const digits = `${whole}${fraction}`;
  const point = whole.length + Number(exponent);
  const all = point < 0 ? `${'0'.repeat(-point)}${digits}` : digits.padEnd(point, '0');
  const at = Math.max(0, point);
  const integer = all.slice(0, at).replace(/^0+(?=\d)/, '') || '0';
  const rest = all.slice(at).replace(/0+$/, '');
  const text = rest === '' ? integer : `${integer}.${rest}`;
  return sign === '-' && text !== '0' ? `-${text}` : text;
}
