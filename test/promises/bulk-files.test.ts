import { writeFile } from 'node:fs/promises';
import { createSinglebyteEncoder } from '@exodus/bytes/single-byte.js';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { Home, reportedError } from '../support/cli.ts';
import { xlsxOf } from '../support/xlsx.ts';

const home = new Home();
beforeAll(() => home.sandbox(['--rate-limit', '1000000/15m']));
afterAll(() => home.close());
beforeEach(async () => {
  await home.run`sandbox reset --yes`;
});

it('sends the rows of a named sheet, with subjects filled in', async () => {
  const people = [
    ['email', 'name', 'meta.account'],
    ['ada@example.com', 'Ada Lovelace', '00491234567890123456'],
  ];
  await writeFile(home.path('p.xlsx'), xlsxOf({ sheets: { Notes: [['x']], People: people } }));
  const words = ['bulk', 'create', 'p.xlsx', '--template', 'tmpl_nda', '--subject', 'For {name} ({account})'];
  expect((await home.run([...words, '--yes'])).code).toBe(2);
  const dry = await home.json([...words, '--sheet', 'People', '--dry-run', '--json']);
  const subject = 'For Ada Lovelace (00491234567890123456)';
  expect(dry).toMatchObject({ rows: 1, first: { line: 2, subject, message: null } });
  expect(await home.json`envelopes list --json`).toEqual([]);
  expect((await home.run([...words, '--sheet', 'People', '--yes'])).code).toBe(0);
  expect(await home.json`envelopes list --json`).toMatchObject([
    { subject, metadata: { account: '00491234567890123456' } },
  ]);
});

it('reads a file of Excel on Windows if its encoding is specified', async () => {
  const text = 'email;name;subject\r\nju@example.com;Jürgen “JJ” Groß;10 € – {name}\r\n';
  await writeFile(home.path('w.csv'), createSinglebyteEncoder('windows-1252')(text));
  const words = ['bulk', 'create', 'w.csv', '--template', 'tmpl_nda', '--yes', '--json'];
  const refused = await home.run(words);
  expect([refused.code, refused.stdout]).toEqual([2, '']);
  expect(reportedError(refused).hint).toContain('--encoding windows-1252');
  expect((await home.run([...words, '--encoding', 'cp1252'])).code).toBe(0);
  expect(await home.json`envelopes list --json`).toMatchObject([
    { subject: '10 € – Jürgen “JJ” Groß', signers: [{ name: 'Jürgen “JJ” Groß' }] },
  ]);
});

it('refuses an unknown placeholder before anything is created', async () => {
  await writeFile(home.path('u.csv'), 'email,name\nada@example.com,Ada\nbo@example.com,\n');
  const words = ['bulk', 'create', 'u.csv', '--template', 'tmpl_nda', '--yes', '--json', '--message'];
  for (const message of ['{who}', '{name}', 'Hi {name'])
    expect((await home.run([...words, message])).code).toBe(2);
  expect(await home.json`envelopes list --json`).toEqual([]);
});

it('takes the signers of one envelope from a sheet, or from CSV with semicolons in UTF-16', async () => {
  const rows = [
    ['email', 'name', 'role', 'order'],
    ['ada@example.com', 'Ada', 'Tenant', '1'],
    ['bo@example.com', 'Bo; "B"', 'Landlord', '2'],
  ];
  await writeFile(home.path('s.xlsx'), xlsxOf({ sheets: { A: [['no']], B: rows } }));
  const csv = rows.map((cells) => `${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(';')}\r\n`);
  await writeFile(home.path('s.csv'), Buffer.from(`\ufeff${csv.join('')}`, 'utf16le'));
  for (const file of [['s.xlsx', '--sheet', 'B'], ['s.csv']]) {
    const words = ['envelopes', 'create', '--template', 'tmpl_lease', '--signers-file', ...file, '--json'];
    expect(await home.json(words)).toMatchObject({
      signers: [
        { email: 'ada@example.com', role: 'Tenant', order: 1 },
        { name: 'Bo; "B"', role: 'Landlord', order: 2 },
      ],
    });
  }
});
