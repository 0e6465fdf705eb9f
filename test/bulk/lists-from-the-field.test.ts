import { describe, expect, it } from 'vitest';
import type { RowDefaults } from '../../src/bulk/rows/check-row.ts';
import { check, problems } from './check-text.ts';

async function warnings(text: string, flags: RowDefaults = {}): Promise<string[]> {
  const { report } = await check(text, 7, flags);
  expect(report.problems.groups()).toEqual([]);
  return report.warnings.groups().map(({ line, column, text: what }) => `${line} ${column}: ${what}`);
}

describe('placeholders of other products', () => {
  const rows = 'email,name,meta.flat\nann@example.com,Ann,7\nbob@example.com,Bob,8\n';
  it.each([
    ['{{name}}', 'name'],
    ['{{{name}}}', 'name'],
    ['{{ Name }}', 'Name'],
    ['{{meta.flat}}', 'meta.flat'],
    [['$', '{flat}'].join(''), 'flat'],
    ['<<name>>', 'name'],
    ['«name»', 'name'],
    ['[name]', 'name'],
    ['%name%', 'name'],
    ['*|NAME|*', 'NAME'],
  ])('cause one warning: %s', async (written, name) => {
    const found = await warnings(rows, { subject: `Lease for ${written}` });
    expect(found).toEqual([`2 : --subject: ${written} is not a placeholder; write {${name}}`]);
  });

  it.each(['{{deal}}', '{{{{name}}}}', 'Order #{flat}', '[Draft] 5% of {name}, 10% off', 'a << b, c >> d'])(
    'are not suspected in %s',
    async (subject) => expect(await warnings(rows, { subject })).toEqual([]),
  );

  it('are found in the texts of rows', async () => {
    const found = await warnings('email,name,message\nann@example.com,Ann,Dear [name]\n');
    expect(found).toEqual(['2 message: [name] is not a placeholder; write {name}']);
  });
});

it('warns about an apostrophe that marks a text, but not about one of a name', async () => {
  const text = "email,name,meta.id\n'ann@example.com,'Ann,'0042\no'neil@example.com,'t Hooft,x'y\n";
  expect((await warnings(text)).map((one) => one.split(':')[0])).toEqual(['2 email', '2 name', '2 meta.id']);
});

it.each([
  ['name', 'Ann\r\nBcc: eve@example.com', 'a line break'],
  ['name', 'Bob\tLee', 'a tab'],
  ['name', 'Cy\u001b[31m', 'an invisible character (U+001B)'],
  ['name', 'Dee\u2028Lee', 'a line break'],
  ['role', 'Ten\nant', 'a line break'],
  ['subject', 'For \u001b[31myou', 'an invisible character (U+001B)'],
  ['subject', 'For you\nBcc: eve@example.com', 'a line break'],
  ['message', 'bell\u0007', 'an invisible character (U+0007)'],
])('refuses control characters in a %s: %j', async (column, cell, what) => {
  const text = `email,${column}\nann@example.com,"${cell}"\n`;
  expect(await problems(text)).toEqual([`2 ${column}: it contains ${what}; remove it`]);
});

it('accepts line breaks and tabs in a message, and any letters in a name', async () => {
  const text = 'email,name,message\nann@example.com,<b>نام\u200cه 李</b>,"Dear Ann,\r\n\tplease sign."\n';
  const { rows, report } = await check(text);
  expect([rows[0]?.envelope.message, report.problems.count]).toEqual(['Dear Ann,\n\tplease sign.', 0]);
});

it('refuses a control character that a placeholder puts into the subject', async () => {
  const { report } = await check('email,meta.flat\nann@example.com,7\u0007\n', 7, { subject: 'Flat {flat}' });
  expect(report.problems.groups()).toMatchObject([
    { text: expect.stringContaining('--subject: it contains') as unknown },
  ]);
});

it.each([
  [
    'cells',
    'email,name\nann@example.com,“Lee, Ann”\n',
    '2 : the row has 3 cells, but the header has 2; the quotes “ ”',
  ],
  [
    'German cells',
    'email,name\nann@example.com,„Lee, Ann“\n',
    '2 : the row has 3 cells, but the header has 2; the quotes “ ”',
  ],
  [
    'an address',
    'email,name\n“ann@example.com”,Ann\n',
    '2 email: "“ann@example.com”" contains the typographic quote “',
  ],
  [
    'a domain',
    'email,name\nann@example.com”,Ann\n',
    '2 email: "ann@example.com”" contains the typographic quote ”',
  ],
  [
    'an apostrophe',
    'email,name\no’neil@example.com,O’Neil\n',
    '2 email: "o’neil@example.com" contains the typographic quote ’',
  ],
])('names typographic quotes as the reason: %s', async (_, text, what) => {
  expect(await problems(text)).toEqual([expect.stringContaining(what)]);
});

it.each(['\u001a', '\n\u001a', '\r\n\u001a'])(
  'reads a file with the end-of-file character of DOS: %j',
  async (end) => {
    for (const piece of [1, 7, 1_000]) {
      const { rows, report } = await check(`email,name\r\nann@example.com,Ann${end}`, piece);
      expect([rows.length, rows[0]?.envelope.signers[0]?.name, report.problems.groups()]).toEqual([
        1,
        'Ann',
        [],
      ]);
    }
    expect(await problems(`email,name\nann@example.com,A\u001ann\n`)).toEqual([
      expect.stringContaining('U+001A'),
    ]);
  },
);

describe('a line that is one cell', () => {
  it.each([
    ['a row', 'email,name\n"ann@example.com,""Lee, Ann"""\n', 2],
    ['all lines', '"email,name"\n"ann@example.com,Ann"\n', 1],
    ['with semicolons', '"email;name"\n"ann@example.com;Ann"\n', 1],
  ])('is reported with its line: %s', async (_, text, line) => {
    const found = await problems(text);
    expect(found.some((one) => one.startsWith(`${line} : the whole line is one cell`))).toBe(true);
  });

  it('is not reported for a name with a comma', async () => {
    expect(await problems('name,email\n"Lee, Ann"\n')).toEqual([expect.stringContaining('has 1 cell,')]);
    expect(await problems('name,email\n"Lee, Ann",ann@example.com\n')).toEqual([]);
  });
});

it.each([
  ['email,name\nann@example.com, "Lee, Ann"\n', 'there is a space before a quote'],
  ['email;name\nann@example.com;\u00a0"Lee; Ann"\n', 'there is a space before a quote'],
  ['email,name\n"ann@example.com" ,Ann\n', 'there is a space or text after a closing quote'],
  ['email,name\nann@example.com,Ann "the" Lee\n', 'there is a quote inside a cell'],
])('reports the invalid quotes of %j', async (text, what) => {
  expect(await problems(text)).toEqual([expect.stringContaining(what)]);
});

it('accepts a number of days with zeros after the decimal point, as spreadsheets show it', async () => {
  const { rows } = await check('email,expires_in_days\nann@example.com,30.00\n');
  expect(rows[0]?.envelope.expiresInDays).toBe(30);
});

describe('half a character, as programs leave it that cut a text after a number of UTF-16 units', () => {
  const half = '\ud83d';
  const row = (more: Record<string, unknown>) =>
    JSON.stringify({ signers: [{ email: 'ann@example.com', name: 'Ann' }], ...more });

  it.each([
    ['subject', { subject: `Lease ${half}` }],
    ['message', { message: `${half}Dear Ann` }],
    ['signers.0.name', { signers: [{ email: 'ann@example.com', name: `Ann ${half}` }] }],
    ['signers.0.role', { signers: [{ email: 'ann@example.com', name: 'Ann', role: half }] }],
  ])('is refused in %s', async (path, more) => {
    const what = 'half a character, such as of an emoji that was cut';
    expect(await problems(`${row(more)}\n`)).toEqual([`1 ${path}: it contains ${what}; remove it`]);
  });

  it('is not seen in a whole one', async () => {
    expect(await problems(`${row({ subject: 'Lease \u{1f600}' })}\n`)).toEqual([]);
  });
});

it.each(['', ' ', '\u00a0'])('refuses a blank subject for the whole list: %j', async (subject) => {
  const { report } = await check('email,name\nann@example.com,Ann\n', 7, { subject });
  expect(report.problems.groups().map(({ text }) => text)).toEqual([
    '--subject: it is empty; fill it in or leave it out',
  ]);
});

it.each([
  ['composed and decomposed', 'm\u00fcller.example', 'mu\u0308ller.example'],
  ['in Unicode and in ASCII', 'm\u00fcller.example', 'xn--mller-kva.example'],
  ['in capitals', 'm\u00fcller.example', 'M\u00dcLLER.example'],
])('refuses a signer twice in a row, whose domain is %s', async (_, one, other) => {
  const text = `signer1_email,signer1_name,signer2_email,signer2_name\nann@${one},Ann,Ann@${other},Ann\n`;
  expect(await problems(text)).toEqual([
    `2 signer2_email: Ann@${other} is already a signer in this row; keep only one`,
  ]);
});

it('refuses a name as the header of an email encodes it', async () => {
  expect(await problems('email,name\nj@example.com,=?UTF-8?Q?J=C3=BCrgen?=\n')).toEqual([
    '2 name: it is encoded as in an email header; write it in plain letters',
  ]);
});
