import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type TestBook, xlsxOf } from '../support/xlsx.ts';
import { readSheet } from './read-sheet.ts';

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const X15 = 'http://schemas.microsoft.com/office/spreadsheetml/2010/11/main';
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** The second row of a file that a spreadsheet program wrote. */
async function rowOf(fixture: string): Promise<string[] | undefined> {
  return (await readSheet(readFileSync(new URL(`fixtures/${fixture}.xlsx`, import.meta.url)))).rows[1];
}

describe('files as spreadsheet programs write them', () => {
  it.each([
    ['d1904-excel2013', '2027-03-16'],
    ['ns-rel', '2023-03-15'],
    ['percent', '5%'],
    ['prefix', 'INV-0042'],
  ])('%s has the cell %s', async (fixture, text) => expect(await rowOf(fixture)).toContain(text));

  it('keeps a single line break for each Windows line break in a text', async () => {
    expect(await rowOf('crlf')).toContain('Dear Ann,\nplease sign.\nRegards');
  });
});

/** Reads one date cell of a workbook whose parts are replaced. */
async function dateIn(extra: Record<string, string>, book: Partial<TestBook> = {}): Promise<string[]> {
  const sheets = { A: '<sheetData><row><c s="1"><v>45000</v></c></row></sheetData>' };
  const bytes = xlsxOf({ sheets, formats: ['yyyy-mm-dd'], is1904: true, ...book, extra });
  return (await readSheet(bytes)).rows[0] ?? [];
}
const workbook = (inner: string, attributes = '') =>
  `<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"${attributes}>${inner}</workbook>`;
const sheet = '<sheets><sheet name="A" sheetId="1" r:id="rId1"/></sheets>';
const ext = (inner: string) => `<extLst><ext uri="{0}">${inner}</ext></extLst>`;

describe('extensions of other programs', () => {
  it.each([
    ['a prefix', `<workbookPr date1904="1"/>${sheet}${ext(`<x:workbookPr xmlns:x="${X15}"/>`)}`],
    ['no prefix', `<workbookPr date1904="1"/>${sheet}${ext(`<workbookPr xmlns="${X15}"/>`)}`],
    ['a place before the settings', `<x:workbookPr xmlns:x="${X15}"/><workbookPr date1904="1"/>${sheet}`],
    [
      'elements of spreadsheets inside',
      `<workbookPr date1904="1"/>${sheet}${ext(`<x:a xmlns:x="${X15}"><workbookPr/><sheet name="Z" r:id="rId9"/></x:a>`)}`,
    ],
  ])('do not change the dates of a workbook: %s', async (_, inner) => {
    expect(await dateIn({ 'xl/workbook.xml': workbook(inner) })).toEqual(['2027-03-16']);
  });

  it('do not change styles, texts, rows, or attributes', async () => {
    const x = `xmlns:x="${X15}"`;
    const styles = `<numFmts><numFmt numFmtId="164" formatCode="yyyy-mm-dd"/></numFmts><cellXfs><x:xf ${x} numFmtId="0"/><xf numFmtId="0"/><xf x:numFmtId="0" ${x} numFmtId="164"/></cellXfs>`;
    const cells =
      '<c x:s="0" s="1"><v>45000</v><extLst><x:v>7</x:v></extLst></c><x:c><v>8</v></x:c><c t="s"><v>1</v></c>';
    const row = `<sheetData ${x}><row x:r="9">${cells}</row><x:row><c><v>9</v></c></x:row></sheetData>`;
    const strings = [`<t>a</t>`, `<t>b</t><x:t ${x}>c</x:t>`];
    const bytes = xlsxOf({
      sheets: { A: row },
      strings,
      extra: { 'xl/styles.xml': `<styleSheet xmlns="${MAIN}">${styles}</styleSheet>` },
    });
    expect((await readSheet(bytes)).rows).toEqual([['2023-03-15', 'b']]);
  });
});

describe('prefixes of namespaces', () => {
  const strict = 'http://purl.oclc.org/ooxml/spreadsheetml/main';
  const strictRelations = 'http://purl.oclc.org/ooxml/officeDocument/relationships';
  it.each([
    [
      'one for each sheet',
      workbook(`<workbookPr/><sheets><sheet name="A" xmlns:d3p1="${RELATIONS}" d3p1:id="rId1"/></sheets>`),
    ],
    [
      'one for all elements',
      `<x:workbook xmlns:x="${MAIN}" xmlns:rel="${RELATIONS}"><x:sheets><x:sheet name="A" rel:id="rId1"/></x:sheets></x:workbook>`,
    ],
    [
      'two for the same namespace',
      `<workbook xmlns="${MAIN}" xmlns:x="${MAIN}" xmlns:r="${RELATIONS}"><x:sheets><sheet name="A" r:id="rId1"/></x:sheets></workbook>`,
    ],
    [
      'the strict namespaces',
      `<workbook xmlns="${strict}"><sheets><sheet name="A" p:id="rId1" xmlns:p="${strictRelations}"/></sheets></workbook>`,
    ],
    [
      'another id first',
      workbook(`<sheets><sheet x:id="rId9" xmlns:x="${X15}" name="A" r:id="rId1"/></sheets>`),
    ],
  ])('do not matter: %s', async (_, xml) => {
    expect(await dateIn({ 'xl/workbook.xml': xml })).toEqual(['2023-03-15']);
  });
});

describe('parts in UTF-16, which Office Open XML allows', () => {
  const styles = (encoding: string) =>
    `<?xml version="1.0" encoding="${encoding}"?><styleSheet xmlns="${MAIN}"><numFmts><numFmt numFmtId="164" formatCode="yyyy&quot; März&quot;"/></numFmts><cellXfs><xf numFmtId="164"/></cellXfs></styleSheet>`;
  const sheets = { A: '<sheetData><row><c s="0" t="inlineStr"><is><t>Łukasz</t></is></c></row></sheetData>' };
  const little = (text: string) => Buffer.from(text, 'utf16le');

  it.each([
    ['little endian', little(`\ufeff${styles('UTF-16')}`)],
    ['little endian without a byte order mark', little(styles('UTF-16LE'))],
    ['big endian', little(`\ufeff${styles('UTF-16')}`).swap16()],
    ['big endian without a byte order mark', little(styles('UTF-16BE')).swap16()],
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${styles('UTF-8')}`)],
  ])('are read: %s', async (_, part) => {
    const bytes = xlsxOf({ sheets, extra: { 'xl/styles.xml': part } });
    expect((await readSheet(bytes)).rows).toEqual([['Łukasz']]);
  });
});

describe('line breaks in texts', () => {
  it.each([
    ['a\r\nb', 'a\nb'],
    ['a\rb', 'a\nb'],
    ['a_x000D_\nb', 'a\nb'],
    ['a_x000D_\r\nb', 'a\nb'],
    ['a&#13;&#10;b', 'a\nb'],
    ['a_x000D__x000A_b', 'a\nb'],
    ['a\r\n\r\nb', 'a\n\nb'],
    ['a_x005F_x000D_b', 'a_x000D_b'],
  ])('%j are read as %j', async (xml, text) => {
    const cell = `<sheetData><row><c t="inlineStr"><is><t>${xml}</t></is></c><c t="s"><v>0</v></c></row></sheetData>`;
    const bytes = xlsxOf({ sheets: { A: cell }, strings: [`<t>${xml}</t>`] });
    expect((await readSheet(bytes)).rows).toEqual([[text, text]]);
  });
});

it('a text is shown in the format of its cell', async () => {
  const cell = '<sheetData><row><c s="1" t="inlineStr"><is><t>42</t></is></c></row></sheetData>';
  const { rows } = await readSheet(xlsxOf({ sheets: { A: cell }, formats: ['0;0;0;"INV-"@'] }));
  expect(rows).toEqual([['INV-42']]);
});

it.each(['xl/workbook.xml', 'xl/sharedStrings.xml', 'xl/styles.xml', 'xl/worksheets/sheet1.xml'])(
  'reports a wrong checksum of %s as damage',
  async (part) => {
    const bytes = xlsxOf({ sheets: { A: [['email'], ['a@b.c']] }, strings: ['<t>a</t>'] });
    const at = bytes.indexOf(part, bytes.indexOf('PK\x01\x02')) - 46;
    bytes.writeUInt32LE(1, at + 16);
    await expect(readSheet(bytes)).rejects.toThrow(`f.xlsx is damaged: the checksum of ${part} is wrong.`);
  },
);
