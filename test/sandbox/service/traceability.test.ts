import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

const folder = new URL('./', import.meta.url);

/** The titles of all tests of a source file, those of test.each as they are written. */
function titlesIn(source: string): string[] {
  return [...source.matchAll(/(?:\btest|\](?: as const)?\))\(\s*(['"`])((?:\\.|(?!\1)[^\\\n])*)\1,/g)].map(
    ([, , title]) => (title ?? '').replace(/\\(.)/g, '$1'),
  );
}

const titles = new Map<string, string[]>();
for (const file of await readdir(folder))
  if (file.endsWith('.test.ts')) titles.set(file, titlesIn(await readFile(new URL(file, folder), 'utf8')));

const table = await readFile(new URL('../README.md', folder), 'utf8');
const rows = [...table.matchAll(/^\| (.+?) \| `([\w-]+\.test\.ts)` \| (.+) \|$/gm)].map(
  ([, says = '', file = '', name = '']) => ({ says, file, name }),
);

test('Every test that the table of the API document names exists', () => {
  expect(rows.length).toBeGreaterThan(100);
  const missing = rows.filter(({ file, name }) => !titles.get(file)?.includes(name));
  expect(missing).toEqual([]);
});

test('Every row of the table has a test or says why it has none', () => {
  const lines = table.split('\n').filter((line) => line.startsWith('| '));
  const [, , ...body] = lines;
  const unproven = body.filter(
    (line) =>
      !/^\| \*\*.+\*\* \| \| \|$/.test(line) && !/^\| .+ \| (`[\w-]+\.test\.ts`|–) \| .+ \|$/.test(line),
  );
  expect(unproven).toEqual([]);
  expect(body.filter((line) => line.includes('| – |'))).toHaveLength(2);
});

test('The reader of titles finds them and nothing else', () => {
  const source =
    "test('a \\'b\\'', () => {});\ntest.each([\n  1,\n])('c %i', (n) => n);\ntest.each(['x'] as const)(\"d\", f);";
  expect(titlesIn(`${source}\nnotatest('e', 1);`)).toEqual(["a 'b'", 'c %i', 'd']);
});
