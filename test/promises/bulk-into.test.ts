import { readFile, writeFile } from 'node:fs/promises';
import { createSinglebyteEncoder } from '@exodus/bytes/single-byte.js';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { isRecord } from '../../src/kernel/json.ts';
import { Home, jsonLines } from '../support/cli.ts';
import { xlsxOf } from '../support/xlsx.ts';

const home = new Home();
beforeAll(() => home.sandbox(['--rate-limit', '1000000/15m']));
afterAll(() => home.close());
beforeEach(async () => {
  await home.run`sandbox reset --yes`;
});

const send = async (file: string, ...flags: string[]) => {
  const sent = await home.run(['bulk', 'create', file, '--send', '--yes', '--json', ...flags]);
  const rows = jsonLines(sent.stdout).filter(isRecord);
  return rows.sort((a, b) => Number(a.row) - Number(b.row)).map(({ envelopeId }) => String(envelopeId));
};
const rowsOf = (text: string, delimiter = ';'): Record<string, string>[] =>
  parse(text, { columns: true, bom: true, delimiter });

it('writes the state of each row into the sheet, and finds moved rows', async () => {
  const people = [
    [
      'template_id',
      'signer1_email',
      'signer1_name',
      'signer1_role',
      'signer2_email',
      'signer2_name',
      'signer2_role',
    ],
    ['tmpl_lease', 'ada@example.com', 'Ada', 'Tenant', 'bo@example.com', 'Bo', 'Landlord'],
    ['tmpl_lease', 'cy@example.com', 'Cy', 'Tenant', 'bo@example.com', 'Bo', 'Landlord'],
    ['tmpl_lease', 'zoe@example.com', 'Zoë', 'Tenant', 'bo@example.com', 'Bo', 'Landlord'],
  ];
  const text = (rows: string[][]) => rows.map((cells) => `${cells.join(';')}\r\n`).join('');
  const encode = (content: string) => createSinglebyteEncoder('windows-1252')(content);
  await writeFile(home.path('p.csv'), encode(text(people)));
  const [ada = '', , zoe = ''] = await send('p.csv', '--encoding', 'windows-1252');
  await home.run`sandbox sign ${ada}`;
  await home.run`sandbox sign ${ada}`;
  await home.run`sandbox decline ${zoe} --reason no`;
  const [header = [], one = [], two = [], three = []] = people;
  const moved = [header, three, two, one].map((cells, n) => [...cells, n === 0 ? 'Notiz' : `Größe ${n}`]);
  const added = [...two.slice(0, 1), 'new@example.com', ...two.slice(2), 'x'];
  await writeFile(home.path('p.csv'), encode(text([...moved, added])));
  const before = await readFile(home.path('p.csv'));
  const { code, stdout, stderr } = await home.run`bulk export --last --into p.csv`;
  expect([code, (await readFile(home.path('p.csv'))).equals(before)]).toEqual([10, true]);
  expect(stderr).toContain('p.csv:5');
  expect(
    rowsOf(stdout).map((row) => [row.esign_row_status, row.esign_envelope_id, row.esign_waiting_for]),
  ).toEqual([
    ['declined', zoe, ''],
    ['waiting', expect.stringMatching(/^env_/), 'Cy; Bo'],
    ['signed', ada, ''],
    ['', '', ''],
  ]);
  expect(rowsOf(stdout)[2]?.esign_signed_at).toMatch(/^20\d\d-/);
  expect(rowsOf(stdout)[1]?.esign_signed_at).toBe('');
});

it('prints only rows without an envelope with --failed, which can be sent once they are fixed', async () => {
  await home.choose({ 'template-roles': 'hidden' });
  await writeFile(
    home.path('f.csv'),
    'email,name,role\nada@example.com,Ada,Tenant\nbo@example.com,Bo,Nobody\n',
  );
  await send('f.csv', '--template', 'tmpl_lease', '--allow-missing-roles');
  const all = await home.run`bulk export --into f.csv`;
  const failed = await home.run`bulk export --into f.csv --failed`;
  expect([all.code, failed.code]).toEqual([0, 0]);
  expect(rowsOf(all.stdout, ',')).toHaveLength(2);
  const [, bo] = rowsOf(all.stdout, ',');
  expect(bo).toMatchObject({ email: 'bo@example.com', esign_row_status: 'failed', esign_envelope_id: '' });
  expect(bo?.esign_error).toContain('VALIDATION_ERROR');
  expect(rowsOf(failed.stdout, ',')).toEqual([bo]);
  await writeFile(home.path('fixed.csv'), failed.stdout.replace('Nobody', 'Tenant'));
  expect(await send('fixed.csv', '--template', 'tmpl_lease', '--allow-missing-roles')).toHaveLength(1);
});

it('returns a sheet as CSV, in the encoding that spreadsheet programs recognize', async () => {
  const rows = [
    ['email', 'name', 'meta.iban'],
    ['zoe@example.com', 'Zoë', '0012'],
  ];
  await writeFile(home.path('s.xlsx'), xlsxOf({ sheets: { Lists: [['x']], People: rows } }));
  const [id] = await send('s.xlsx', '--sheet', 'People', '--template', 'tmpl_nda');
  const { code, stdout } = await home.run`bulk export --into s.xlsx --delimiter semicolon`;
  expect([code, stdout.charCodeAt(0)]).toEqual([0, 0xfeff]);
  expect(rowsOf(stdout)).toMatchObject([
    { name: 'Zoë', 'meta.iban': '0012', esign_envelope_id: id, esign_row_status: 'waiting' },
  ]);
});

it('adds the fields to JSON Lines', async () => {
  const line = '{"signers": [{"email":"ada@example.com"}],  "metadata":{"n":1}}\n';
  await writeFile(home.path('l.jsonl'), line);
  const [id] = await send('l.jsonl', '--template', 'tmpl_nda');
  const { stdout } = await home.run`bulk export --into l.jsonl`;
  expect(stdout.startsWith(line.slice(0, -2))).toBe(true);
  expect(JSON.parse(stdout)).toMatchObject({ esign_row_status: 'waiting', esign_envelope_id: id });
});
