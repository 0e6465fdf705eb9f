import { messageOf } from '../../kernel/errors.ts';
import { isRecord, valueAt } from '../../kernel/json.ts';
import { exactNumbersIn, parseExactJson } from '../../kernel/text/exact-json.ts';
import type { TableFinding } from '../../tables/table-types.ts';
import { RESULT_PREFIX } from './columns.ts';
import type { RawRow } from './raw-row.ts';

/** Yields the rows of a JSON Lines text: create bodies as in the API, plus `requestId`. */
export async function* readJsonRows(
  text: AsyncIterable<string>,
  report: (problem: TableFinding) => void,
): AsyncGenerator<RawRow, void, undefined> {
  let line = 0;
  for await (const content of linesOf(text)) {
    line++;
    if (content.trim() === '') continue;
    let value: unknown;
    try {
      value = parseExactJson(content);
    } catch (error) {
      report({
        line,
        column: '',
        text: `the line is not JSON (${messageOf(error)}); write one object per line`,
      });
      continue;
    }
    const [large] = exactNumbersIn(value);
    if (large !== undefined) {
      const { path: column, text: number } = large;
      report({ line, column, text: `the number ${number} can't be kept exactly; write it in quotes` });
      continue;
    }
    const row = withoutResults(value);
    yield {
      line,
      value: row,
      label: (path) => path,
      cell: (path) => cellAt(row, path),
      columns: [],
      cells: [],
    };
  }
}

/** Returns the value for a placeholder: `{meta.a.b}` is the metadata's key `a.b` or, without one, the key `b` of its object `a`. */
function cellAt(row: unknown, path: readonly string[]): unknown {
  return valueAt(row, path) ?? valueAt(row, path.join('.'));
}

/** Returns the value without the fields that `bulk export --into` wrote. */
function withoutResults(value: unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !key.startsWith(RESULT_PREFIX)));
}

async function* linesOf(text: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  // Joined only at the end of the line, so that a long line takes no longer for each of its pieces.
  let pieces: string[] = [];
  for await (const chunk of text) {
    const [first = '', ...others] = chunk.split('\n');
    pieces.push(first);
    for (const next of others) {
      yield pieces.join('');
      pieces = [next];
    }
  }
  const rest = pieces.join('');
  if (rest !== '') yield rest;
}
