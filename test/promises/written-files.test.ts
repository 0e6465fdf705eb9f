import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { argv } from '../support/argv.ts';
import { Home } from '../support/cli.ts';
import { readSheet } from '../tables/read-sheet.ts';

const home = new Home();
beforeAll(async () => {
  await home.sandbox(['--rate-limit', '1000000/15m']);
  await writeFile(home.path('rows.csv'), 'email,name\nada@example.com,=Ada\nbo@example.com,Bo\n');
  await home.run`bulk create rows.csv --template tmpl_nda --send --yes`;
});

const LISTS = [
  argv`envelopes list`,
  argv`find ada`,
  argv`late`,
  argv`report --by template`,
  argv`bulk status`,
  argv`bulk roster rows.csv --template tmpl_nda`,
  argv`bulk roster rows.csv --template tmpl_intake --missing`,
  argv`bulk export`,
  argv`bulk export --into rows.csv`,
  argv`events list`,
].map((words) => [words.join(' '), words] as const);

describe.each(LISTS)('%s -o', (name, words) => {
  const path = (ending: string) => `${name.replaceAll(/\W+/g, '-')}.${ending}`;

  it('writes a workbook, and CSV with a byte order mark', async () => {
    const [book, csv] = [path('xlsx'), path('csv')];
    const run = await home.run([...words, '-o', book]);
    expect([run.code, run.stdout]).toEqual([0, '']);
    expect(run.stderr).toContain(`Created ${book}, `);
    expect((await home.run([...words, '-o', csv])).code).toBe(0);
    const { rows } = await readSheet(await readFile(home.path(book)));
    const text = await readFile(home.path(csv), 'utf8');
    expect(text.startsWith(`\ufeff${String(rows[0]?.[0])}`)).toBe(true);
  });

  it('replaces a file only with --force', async () => {
    const csv = `kept-${path('csv')}`;
    await writeFile(home.path(csv), 'mine');
    const refused = await home.run([...words, '-o', csv]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('it already exists')]);
    expect(refused.stderr).toContain('--force');
    expect(await readFile(home.path(csv), 'utf8')).toBe('mine');
    expect((await home.run([...words, '-o', csv, '--force'])).code).toBe(0);
    expect(await readFile(home.path(csv), 'utf8')).not.toBe('mine');
  });

  it.each(['nowhere/x.csv', 'x.xls', 'x.ods', 'x.txt', 'x', 'folder.csv'])('refuses %s', async (output) => {
    await mkdir(home.path('folder.csv'), { recursive: true });
    const { code, stderr } = await home.run([...words, '-o', output]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`Can't write ${output}: `)]);
    await expect(readFile(home.path(output))).rejects.toThrow(/ENOENT|EISDIR/);
  });
});

it('writes texts as texts, numbers as numbers, and all items', async () => {
  await home.run`bulk status -o typed.xlsx`;
  const { rows } = await readSheet(await readFile(home.path('typed.xlsx')));
  const [header = [], first = []] = rows;
  const cell = (name: string) => first[header.indexOf(name)];
  expect([cell('row'), cell('name'), cell('email')]).toEqual(['1', '=Ada', 'ada@example.com']);
  expect(cell('sentAt')).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
  const names = Array.from({ length: 30 }, (_, n) => `p${n}@example.com\n`).join('');
  await writeFile(home.path('many.csv'), `email\n${names}`);
  await home.run`bulk create many.csv --template tmpl_nda --yes`;
  expect((await home.run`envelopes list -o all.csv`).stderr).toContain('Created all.csv, 32 rows.');
  expect((await home.run`envelopes list -o some.csv -L 5`).stderr).toContain('Created some.csv, 5 rows.');
});

it('writes a page only to a name of a page, and replaces it only with --force', async () => {
  expect((await home.run`report --html page.html`).code).toBe(0);
  expect((await home.run`report --html page.html`).code).toBe(2);
  expect((await home.run`report --html page.html --force`).code).toBe(0);
  expect((await home.run`report --html page.xls`).code).toBe(2);
});
