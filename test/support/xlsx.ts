import { crc32, deflateRawSync } from 'node:zlib';

/** A zip file of these entries. */
export function zipOf(entries: Readonly<Record<string, string | Buffer>>): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [name, content] of Object.entries(entries)) {
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(crc32(bytes), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(bytes.length, 18);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(at, 10);
    const body = [Buffer.from('PK\x03\x04'), fields, Buffer.from(name), packed];
    directory.push(Buffer.from('PK\x01\x02\x14\x00', 'latin1'), fields, place, Buffer.from(name));
    bodies.push(...body);
    at += body.reduce((sum, { length }) => sum + length, 0);
  }
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  const [count, size] = [Object.keys(entries).length, directory.reduce((sum, { length }) => sum + length, 0)];
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...bodies, ...directory, end]);
}

export interface TestBook {
  /** The XML inside `<worksheet>`, or the rows as texts, by the name of the sheet. */
  sheets: Readonly<Record<string, string | readonly (readonly string[])[]>>;
  /** The XML of each shared string. */
  strings?: readonly string[];
  /** Format codes; style 1 is the first one. */
  formats?: readonly string[];
  is1904?: boolean;
  hidden?: readonly string[];
  extra?: Readonly<Record<string, string | Buffer>>;
}

const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';

/** An .xlsx file. */
export function xlsxOf({ sheets, strings, formats = [], is1904, hidden = [], extra }: TestBook): Buffer {
  const names = Object.keys(sheets);
  const relation = (id: string, type: string, target: string) =>
    `<Relationship Id="${id}" Type="${RELATIONS}/${type}" Target="${target}"/>`;
  const relations = (inner: string) =>
    `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${inner}</Relationships>`;
  const sheetTags = names.map(
    (name, n) =>
      `<sheet name="${name}" sheetId="${n + 1}" r:id="rId${n + 1}"${hidden.includes(name) ? ' state="hidden"' : ''}/>`,
  );
  const xfs = formats.map((_, n) => `<xf numFmtId="${n + 164}"/>`).join('');
  const numFmts = formats.map((code, n) => `<numFmt numFmtId="${n + 164}" formatCode="${escaped(code)}"/>`);
  return zipOf({
    '_rels/.rels': relations(relation('rId1', 'officeDocument', 'xl/workbook.xml')),
    'xl/workbook.xml': `<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><workbookPr${is1904 ? ' date1904="1"' : ''}/><sheets>${sheetTags.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations(
      [
        ...names.map((_, n) => relation(`rId${n + 1}`, 'worksheet', `worksheets/sheet${n + 1}.xml`)),
        relation('rIdA', 'sharedStrings', 'sharedStrings.xml'),
        relation('rIdB', 'styles', '/xl/styles.xml'),
      ].join(''),
    ),
    'xl/sharedStrings.xml': `<sst xmlns="${MAIN}">${(strings ?? []).map((si) => `<si>${si}</si>`).join('')}</sst>`,
    'xl/styles.xml': `<styleSheet xmlns="${MAIN}"><numFmts>${numFmts.join('')}</numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/>${xfs}</cellXfs></styleSheet>`,
    ...Object.fromEntries(
      Object.values(sheets).map((sheet, n) => [
        `xl/worksheets/sheet${n + 1}.xml`,
        `<worksheet xmlns="${MAIN}">${typeof sheet === 'string' ? sheet : sheetData(sheet)}</worksheet>`,
      ]),
    ),
    ...extra,
  });
}

function sheetData(rows: readonly (readonly string[])[]): string {
  const cell = (text: string) =>
    text === '' ? '<c/>' : `<c t="inlineStr"><is><t>${escaped(text)}</t></is></c>`;
  return `<sheetData>${rows.map((row) => `<row>${row.map(cell).join('')}</row>`).join('')}</sheetData>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
