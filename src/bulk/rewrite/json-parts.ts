import { isRecord, parseJson, valueAt } from '../../kernel/json.ts';
import { membersOf } from '../../kernel/text/json-text.ts';
import type { CodeUnits } from '../../tables/rewrite/code-units.ts';
import { withoutResults } from '../rows/json-rows.ts';
import type { RawRow } from '../rows/raw-row.ts';
import type { FilePart } from './file-part.ts';
import { INTO_COLUMNS, type IntoCells } from './result-columns.ts';

/** Yields the parts of a JSON Lines file, one per line. */
export async function* jsonParts(
  pieces: AsyncIterable<string>,
  { units, mark }: { units: CodeUnits; mark: string },
): AsyncGenerator<FilePart, void, undefined> {
  let line = 0;
  for await (const text of linesOf(pieces)) {
    line++;
    const start = line === 1 ? mark.length : 0;
    const row = rowOf(units.decode(text.slice(start)), line);
    const bytes = () => units.toBytes(text);
    const bytesWith = (results: IntoCells) => units.toBytes(withMembers(text, results));
    yield row === undefined ? { line, bytes, bytesWith: bytes } : { row, line, bytes, bytesWith };
  }
}

/** Yields lines including their line breaks. */
async function* linesOf(pieces: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let rest = '';
  for await (const piece of pieces) {
    const lines = `${rest}${piece}`.split(/(?<=\n)/);
    rest = lines.at(-1)?.endsWith('\n') ? '' : (lines.pop() ?? '');
    yield* lines;
  }
  if (rest !== '') yield rest;
}

function rowOf(text: string, line: number): RawRow | undefined {
  if (text.trim() === '') return undefined;
  const value = withoutResults(tryParse(text));
  return { line, value, label: (path) => path, cell: (path) => valueAt(value, path.join('.')) };
}

function tryParse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Replaces existing result members and adds the others at the end of the object. */
function withMembers(text: string, results: IntoCells): string {
  if (!isRecord(tryParse(text.replace(/^(?:\ufeff|\u00ef\u00bb\u00bf)/, '')))) return text;
  const members = membersOf(text);
  const missing = INTO_COLUMNS.filter((column) => !members.some(({ name }) => name === column));
  const added = missing.map((column) => `${JSON.stringify(column)}:${asJson(results[column])}`).join(',');
  const end = text.lastIndexOf('}');
  const comma = members.length > 0 && added !== '' ? ',' : '';
  let written = `${text.slice(0, end)}${comma}${added}${text.slice(end)}`;
  for (const { name, from, to } of members.toReversed()) {
    const column = INTO_COLUMNS.find((one) => one === name);
    if (column !== undefined) written = written.slice(0, from) + asJson(results[column]) + written.slice(to);
  }
  return written;
}

/** Returns a result value as JSON in ASCII, which every encoding contains. */
function asJson(text: string): string {
  if (text === '') return 'null';
  return JSON.stringify(text).replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
