import type { TableRecord } from '../../tables/record.ts';
import { quoted } from '../../tables/rewrite/csv-units.ts';
import { rawRow } from '../rows/table-rows.ts';
import { looseColumns } from './csv-parts.ts';
import type { FilePart } from './file-part.ts';
import { cellText, INTO_COLUMNS, type IntoCells, type IntoColumn, intoColumn } from './result-columns.ts';

/** The byte order mark, by which spreadsheet programs on Windows recognize UTF-8. */
const BYTE_ORDER_MARK = '\ufeff';

/** Yields the rows of a sheet as CSV. */
export async function* sheetParts(
  records: AsyncIterable<TableRecord>,
  delimiter: string,
  sent: readonly string[] | undefined,
): AsyncGenerator<FilePart, void, undefined> {
  const textOf = (cells: readonly string[]) =>
    `${cells.map((cell) => quoted(cell, delimiter)).join(delimiter)}\r\n`;
  let header: string[] | undefined;
  for await (const { cells, line } of records) {
    const isHeader = header === undefined;
    header ??= cells;
    const names = header;
    const start = isHeader ? BYTE_ORDER_MARK : '';
    const row = isHeader ? undefined : rawRow(looseColumns(names, sent), cells, line);
    yield {
      row,
      line,
      bytes: () => Buffer.from(start + textOf(cells)),
      bytesWith: (results: IntoCells) => {
        const value = (column: IntoColumn) => (isHeader ? column : cellText(results, column));
        const own = names.map((name, index) => {
          const column = intoColumn(name);
          return column === undefined || isHeader ? (cells[index] ?? '') : value(column);
        });
        const added = INTO_COLUMNS.filter((column) => !names.some((name) => intoColumn(name) === column));
        return Buffer.from(start + textOf([...own, ...added.map(value), ...cells.slice(names.length)]));
      },
    };
  }
}
