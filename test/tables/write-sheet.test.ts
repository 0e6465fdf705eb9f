import { expect, it } from 'vitest';
import type { TableCell } from '../../src/tables/table-cell.ts';
import { NewWorkbook } from '../../src/tables/xlsx/write-sheet.ts';
import { readSheet } from './read-sheet.ts';

async function written(...rows: readonly (readonly TableCell[])[]) {
  const book = new NewWorkbook('f.xlsx');
  book.add([{ text: 'a' }, { text: 'b' }]);
  for (const cells of rows) book.add(cells);
  return readSheet(Buffer.from(await book.bytes()));
}

it.each([
  '=HYPERLINK("http://x.example","y")',
  '+49 30 1234',
  '@SUM(A1)',
  '0042',
  '1e5',
  ' spaces ',
  'two\nlines',
  '<b>&amp;</b>',
  'constructor',
  '__proto__',
  '_x0041_',
  'Zoë 李 👩‍👧',
])('writes a text that is read back as it was: %j', async (text) => {
  const { rows } = await written([{ text, isOwn: true }, { text: 'x' }]);
  expect(rows[1]?.[0]).toBe(text);
});

it('writes control characters of own cells as they are, and makes those from outside visible', async () => {
  const { rows } = await written([{ text: 'a\u0007b', isOwn: true }, { text: 'a\u0007b\u202ec' }]);
  expect(rows[1]).toEqual(['a\u0007b', 'a␇b<202E>c']);
});

it('writes numbers and days as such, unless that would change them', async () => {
  const cells: TableCell[] = ['4711', '0.5', '007', '12345678901234567890'].map((text) => ({
    text,
    kind: 'number',
  }));
  const { rows, warnings } = await written(cells, [
    { text: '2026-11-30', kind: 'day' },
    { text: 'never', kind: 'day' },
  ]);
  expect(rows.slice(1)).toEqual([
    ['4711', '0.5', '007', '12345678901234567890'],
    ['2026-11-30', 'never'],
  ]);
  // None was rounded to the 15 digits of a number.
  expect(warnings).toEqual([]);
});

it('refuses what a sheet cannot contain', async () => {
  const book = new NewWorkbook('f.xlsx');
  expect(() => book.add([{ text: 'x'.repeat(32_768) }])).toThrow(/32,767 characters/);
});
