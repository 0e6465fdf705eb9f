import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/kernel/errors.ts';
import { xlsxOf, zipOf } from '../support/xlsx.ts';
import { readSheet as read } from './read-sheet.ts';

const data = (rows: string) => ({ A: `<sheetData>${rows}</sheetData>` });
/** The text of one number cell below a header, with a format. */
async function number(value: string, format = 'General', is1904 = false): Promise<string | undefined> {
  const { rows } = await read({
    sheets: data(
      `<row><c t="inlineStr"><is><t>email</t></is></c></row><row><c s="1"><v>${value}</v></c></row>`,
    ),
    formats: [format],
    is1904,
  });
  return rows[1]?.[0];
}

describe('sheet numbers', () => {
  it.each([
    ['12345678901234567890', '12345678901234567890'],
    ['1.2345678901234567E+19', '12345678901234567000'],
    ['1E-7', '0.0000001'],
    ['19.989999999999998', '19.99'],
    ['0.30000000000000004', '0.3'],
    ['-12.50', '-12.5'],
    ['30.0', '30'],
    ['1E999', '1'.padEnd(1000, '0')],
    ['1E999999999', '1E999999999'],
    ['4915112345678', '4915112345678'],
  ])('are converted from %s to %s', async (value, text) => expect(await number(value)).toBe(text));

  it.each([
    ['46356', 'yyyy-mm-dd', '2026-11-30'],
    ['46356.60416666667', 'dd.mm.yyyy', '2026-11-30'],
    ['46356.60416666667', 'dd.mm.yyyy hh:mm', '2026-11-30T14:30:00'],
    ['0.60416666667', 'h:mm AM/PM', '14:30:00'],
    ['1.5', '[h]:mm:ss', '36:00:00'],
    ['59', 'd/m/yy', '1900-02-28'],
    ['60', 'd/m/yy', '1900-02-29'],
    ['61', 'd/m/yy', '1900-03-01'],
    ['1', '[$-407]d. mmmm yyyy;@', '1900-01-01'],
    ['1067', '00000', '01067'],
    ['1067', '#,##0', '1,067'],
    ['12', '0 "days"', '12 days'],
    ['12', '[Red]0.00', '12.00'],
    ['0.075', '0.0%', '7.5%'],
    ['1234.5', '_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)', '$1,234.50'],
    ['1234.5', '#,##0.00\\ [$€-407]', '1.234,50 €'],
    ['123456789', '000\\-00\\-0000', '123-45-6789'],
    ['5551234567', '[<=9999999]###\\-####;\\(###\\)\\ ###\\-####', '(555) 123-4567'],
    ['42', '"INV-"General', 'INV-42'],
    ['123456789012', '0.00E+00', '123456789012'],
    ['12345678901234567', '#,##0', '12345678901234567'],
    ['5', ';;;', '5'],
    ['5', '0"', '5'],
    ['-3', 'yyyy-mm-dd', '-3'],
    ['99999999', 'yyyy-mm-dd', '99999999'],
  ])('read %s with the format %s as %s', async (value, format, text) => {
    expect(await number(value, format)).toBe(text);
  });

  it('count days from 1904 in some files', async () => {
    expect(await number('44894', 'yyyy-mm-dd', true)).toBe('2026-11-30');
  });
});

describe('sheet texts', () => {
  it('join the runs of rich text, and include shared, inline, formula, boolean, error, and date cells', async () => {
    const { rows } = await read({
      strings: [
        '<t>email</t>',
        '<r><t>Ada </t></r><r><rPr><b/></rPr><t xml:space="preserve">Love &amp; lace</t></r><rPh><t>reading</t></rPh>',
        '<t>one_x000D_\ntwo</t>',
      ],
      sheets: data(
        '<row r="2"><c r="A2" t="s"><v>0</v></c><c r="B2" t="s"><v>1</v></c><c r="H2" t="s"><v>2</v></c></row>' +
          '<row r="5"><c r="B5" t="str"><f>A1&amp;"x"</f><v>text of a formula</v></c><c r="C5" t="b"><v>1</v></c><c t="e"><v>#N/A</v></c><c t="d"><v>2026-11-30T00:00:00</v></c><c t="inlineStr"><is><r><t>in</t></r><r><t>line</t></r></is></c><c t="str"><f>""</f><v></v></c></row>',
      ),
    });
    expect(rows).toEqual([
      ['email', 'Ada Love & lace', '', '', '', '', '', 'one\ntwo'],
      ['', 'text of a formula', 'TRUE', '#N/A', '2026-11-30', 'inline', '', ''],
    ]);
  });

  it('read a boolean that is spelled out', async () => {
    const cells = ['1', 'true', '0', 'false'].map((value) => `<c t="b"><v>${value}</v></c>`).join('');
    const { rows } = await read({ sheets: data(`<row>${cells}</row>`) });
    expect(rows).toEqual([['TRUE', 'TRUE', 'FALSE', 'FALSE']]);
  });

  it('are refused if their text is missing from the file', async () => {
    const sheets = data('<row><c t="s"><v>0</v></c><c t="s"><v>2</v></c></row>');
    const text = 'f.xlsx is damaged: row 1 refers to a text that is missing.';
    await expect(read({ sheets, strings: ['<t>a</t>', '<t>b</t>'] })).rejects.toThrow(text);
  });

  it('ignore empty rows and columns at the end and in between, and number rows like the spreadsheet', async () => {
    const { rows, lines } = await read({
      sheets: data(
        '<row r="1"><c t="inlineStr"><is><t>email</t></is></c><c s="1"/><c r="AMJ1" s="1"/></row><row r="2"/><row r="7"><c t="inlineStr"><is><t>a@b.c</t></is></c><c t="inlineStr"><is><t> </t></is></c></row><row r="1048576"><c s="1"/></row>',
      ),
    });
    expect([rows, lines]).toEqual([
      [['email'], ['a@b.c']],
      [1, 7],
    ]);
  });
});

describe('content that a program would misread', () => {
  it('is refused in merged cells in the header and in rows, but not outside the table', async () => {
    const rows =
      '<row><c t="str"><v>email</v></c><c t="str"><v>name</v></c></row><row><c t="str"><v>x</v></c></row>';
    const merged = (ref: string) =>
      `${`<sheetData>${rows}</sheetData>`}<mergeCells><mergeCell ref="${ref}"/></mergeCells>`;
    expect((await read({ sheets: { A: merged('A1:B1') } })).problems).toEqual([[1, '']]);
    expect((await read({ sheets: { A: merged('B1:B2') } })).problems).toEqual([[1, '']]);
    expect((await read({ sheets: { A: merged('A20:B21') } })).problems).toEqual([]);
    expect((await read({ sheets: { A: merged('D1:E2') } })).problems).toEqual([]);
  });

  it('is refused: a formula without a stored value', async () => {
    const { problems } = await read({
      sheets: data(
        '<row><c t="str"><v>email</v></c></row><row><c><f>A1</f></c></row><row><c t="str"><v>a@b.c</v></c><c><f>A1</f></c></row>',
      ),
    });
    expect(problems).toEqual([[2, 'email']]);
  });

  it('causes a warning in hidden rows and columns, and in numbers with more digits than spreadsheets keep', async () => {
    const { warnings, rows } = await read({
      sheets: {
        A: '<cols><col min="2" max="9" hidden="1"/></cols><sheetData><row><c t="str"><v>email</v></c><c t="str"><v>meta.iban</v></c></row><row hidden="1"><c t="str"><v>a</v></c><c><v>12345678901234500000</v></c></row></sheetData>',
      },
    });
    expect(rows).toHaveLength(2);
    expect(warnings).toEqual([
      [2, 'meta.iban'],
      [2, ''],
      [1, 'meta.iban'],
    ]);
  });
});

describe('the sheet', () => {
  const sheets = { Lists: [['x']], People: [['email']], Old: [['y']] };
  it('is the first visible one, or the one that is named', async () => {
    expect((await read({ sheets, hidden: ['Lists'] })).sheet).toBe('People');
    expect((await read({ sheets }, 'Old')).rows).toEqual([['y']]);
    expect((await read({ sheets }, 'people')).sheet).toBe('People');
  });

  it('is refused if it is unknown', async () => {
    await expect(read({ sheets }, 'Poeple')).rejects.toThrow(UsageError);
  });
});

describe('a file that is damaged or too large', () => {
  const good = xlsxOf({ sheets: { A: [['email'], ['a@b.c']] } });
  const cutAtEnd = good.subarray(0, good.length - 30);
  const changed = Buffer.from(good);
  changed.fill(0x55, 60, 90);
  it.each([
    ['a zip file with other contents', zipOf({ 'a.txt': 'x' })],
    ['an OpenDocument file', zipOf({ mimetype: 'x', 'content.xml': '<a/>' })],
    ['a truncated file', cutAtEnd],
    ['a file with changed bytes', changed],
    ['truncated XML', xlsxOf({ sheets: { A: '<sheetData><row><c>' } })],
    [
      'a DOCTYPE with entities',
      xlsxOf({
        sheets: { A: [['x']] },
        extra: { 'xl/sharedStrings.xml': '<!DOCTYPE a [<!ENTITY b "c">]><sst/>' },
      }),
    ],
    ['an encrypted file', Buffer.from('d0cf11e0a1b11ae100', 'hex')],
    ['65 MB unpacked', xlsxOf({ sheets: { A: ' '.repeat(65 * 1024 * 1024) } })],
    [
      '65 MB in an unused part',
      xlsxOf({ sheets: { A: [['email']] }, extra: { 'xl/media/a.png': Buffer.alloc(65 * 1024 * 1024) } }),
    ],
    ['1,001 columns', xlsxOf({ sheets: { A: [Array.from({ length: 1_001 }, () => 'x')] } })],
  ])('is refused: %s', async (_, bytes) => {
    await expect(read(bytes)).rejects.toThrow(UsageError);
  });

  it('is refused if its cells repeat a long text too often', async () => {
    const rows = '<row><c t="s"><v>0</v></c></row>'.repeat(300);
    const book = { sheets: data(rows), strings: [`<t>${'x'.repeat(1024 * 1024)}</t>`] };
    await expect(read(book)).rejects.toThrow(UsageError);
  });

  it('is refused if a part is larger than its directory says', async () => {
    const bomb = xlsxOf({ sheets: { A: ' '.repeat(1_000_000) } });
    const lie = Buffer.from(bomb);
    for (let at = lie.indexOf('PK\x01\x02'); at !== -1; at = lie.indexOf('PK\x01\x02', at + 4))
      if (lie.readUInt32LE(at + 24) > 900_000) lie.writeUInt32LE(1_000, at + 24);
    await expect(read(lie)).rejects.toThrow(UsageError);
  });
});
