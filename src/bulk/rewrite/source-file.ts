import { dialectOf, peek } from '../../tables/csv-records.ts';
import { codeUnitsOf } from '../../tables/rewrite/code-units.ts';
import type { FileSource, ReadOptions } from '../../tables/table-file.ts';
import { openTableFile } from '../../tables/table-file.ts';
import { csvParts } from './csv-parts.ts';
import type { FilePart } from './file-part.ts';
import { jsonParts } from './json-parts.ts';
import { sheetParts } from './sheet-parts.ts';

/** A source file that is rewritten part by part. */
export interface RewritableFile {
  parts: AsyncGenerator<FilePart, void, undefined>;
  /** Returns the number of result characters that the encoding of the file lacks. */
  replaced(): number;
}

/**
 * Opens a source file to rewrite it. A sheet becomes CSV in UTF-8 with a byte order mark. `delimiter` applies only to a sheet.
 * `sent`: the paths of the columns that count; all columns if undefined.
 */
export async function openRewritable(
  file: FileSource,
  options: ReadOptions & { delimiter: string; sent?: readonly string[] | undefined },
): Promise<RewritableFile> {
  const { delimiter, sent } = options;
  const table = await openTableFile(file, options);
  if (table.kind === 'sheet') {
    const records = table.records({ problem: () => undefined, warning: () => undefined });
    return { parts: sheetParts(records, delimiter, sent), replaced: () => 0 };
  }
  const { encoding, bytes } = table;
  const plain = await codeUnitsOf(encoding, ',');
  const { head, all } = await peek(plain.fromBytes(bytes));
  const mark = /^(?:\ufeff|\u00ef\u00bb\u00bf)/.exec(head)?.[0] ?? '';
  const start = plain.decode(head.slice(mark.length));
  if (/^\s*[{[]/.test(start)) return { parts: jsonParts(all, { units: plain, mark }), replaced: () => 0 };
  const dialect = dialectOf(start);
  const units = await codeUnitsOf(encoding, dialect.delimiter);
  return {
    parts: csvParts(all, { units, mark, dialect, sent, name: file.name }),
    replaced: () => units.replaced(),
  };
}
