import { partsOf } from '../../../../src/sandbox/documents/tampering.ts';

/** The text of the sealed document, and the forged text. */
export const HONEST = 'Rent 100';
export const FORGED = 'Rent 999';

export const stream = (data: string, dict = '') =>
  `<< /Length ${data.length} ${dict} >>\nstream\n${data}\nendstream`;
export const words = (text: string) => `BT /F1 24 Tf 20 100 Td (${text}) Tj ET`;

/** A DER SEQUENCE around an OCTET STRING: has the form of validation data, whatever it contains. */
export function der(data: string): string {
  const octets = `\x04\x82${bytes(data.length)}${data}`;
  return `\x30\x82${bytes(octets.length)}${octets}`;
}

function bytes(length: number): string {
  return String.fromCharCode(length >> 8, length & 0xff);
}

export type Objects = Readonly<Record<number, string>>;

/** The objects of a one-page document, which can be replaced. */
export const DOCUMENT: Objects = {
  1: '<< /Type /Catalog /Pages 2 0 R >>',
  2: '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
  3: '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
  4: stream(words(HONEST)),
  5: '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
};

const entryAt = (at: number) => `${String(at).padStart(10, '0')} 00000 n \n`;

/** A new document with a cross-reference table. */
export function documentOf(objects: Objects = DOCUMENT): Buffer {
  let text = '%PDF-1.7\n';
  let entries = '0 1\n0000000000 65535 f \n';
  for (const [number, body] of Object.entries(objects)) {
    entries += `${number} 1\n${entryAt(text.length)}`;
    text += `${number} 0 obj\n${body}\nendobj\n`;
  }
  const size = Math.max(...Object.keys(objects).map(Number)) + 1;
  const at = text.length;
  text += `xref\n${entries}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${at}\n%%EOF\n`;
  return Buffer.from(text, 'latin1');
}

/** How an update deviates from a conforming one. */
export interface Deviation {
  /** Before the first object, between objects, and before the table. */
  lead?: string;
  between?: string;
  beforeTable?: string;
  /** Replaces the line `xref`. */
  head?: string;
  /** After the entries of the table. */
  entries?: string;
  /** Replaces `00000 n` in the entries. */
  kind?: string;
  /** Added to the offsets in the entries. */
  offset?: number;
  prev?: string;
  size?: string;
  root?: string;
  /** Additional keys in the trailer. */
  trailer?: string;
  /** Added to startxref. */
  shift?: number;
  /** Replaces the end. */
  end?: string;
  /** Objects without an entry. */
  unlisted?: Objects;
  lineEnd?: string;
}

/** An incremental update with a table: conforming except for the deviation. */
export function update(pdf: Buffer, objects: Objects, how: Deviation = {}): Buffer {
  const parts = partsOf(pdf);
  const newSize = Math.max(parts.size, ...Object.keys(objects).map((number) => Number(number) + 1));
  const {
    lineEnd: eol = '\n',
    lead = '',
    between = '',
    beforeTable = '',
    unlisted = {},
    kind = '00000 n',
    offset = 0,
  } = how;
  const { prev = `/Prev ${parts.startxref}`, size = `/Size ${newSize}`, root = `/Root ${parts.root}` } = how;
  const { head = `xref${eol}`, shift = 0, trailer = '', end = `startxref${eol}AT${eol}%%EOF${eol}` } = how;
  const wrap = ([number, body]: [string, string]) => `${number} 0 obj${eol}${body}${eol}endobj${eol}`;
  let text = lead;
  let entries = '';
  for (const object of Object.entries(objects)) {
    const entry = entryAt(pdf.length + text.length + offset).replace('00000 n', kind);
    entries += `${object[0]} 1${eol}${eol === '\r\n' ? entry.replace(' \n', '\r\n') : entry}`;
    text += wrap(object) + between;
  }
  text += Object.entries(unlisted).map(wrap).join('') + beforeTable;
  const at = pdf.length + text.length + shift;
  const dict = `<< ${size} ${root} ${prev} ${trailer} >>`;
  text += `${head}${entries}${how.entries ?? ''}trailer${eol}${dict}${eol}${end.replace('AT', String(at))}`;
  return Buffer.concat([pdf, Buffer.from(text, 'latin1')]);
}

/** How an update with a cross-reference stream deviates from a conforming one. */
export interface StreamDeviation {
  widths?: [number, number, number];
  /** Additional rows, additional keys, and bytes after the rows. */
  rows?: readonly [number, number, number, number][];
  dict?: string;
  extra?: string;
  prev?: string;
  type?: string;
  unlisted?: boolean;
}

/** An incremental update with a cross-reference stream; `packed` objects are in an object stream. */
export function streamUpdate(
  pdf: Buffer,
  objects: Objects,
  how: StreamDeviation & { packed?: Packed } = {},
): Buffer {
  const { root, startxref, size } = partsOf(pdf);
  const widths = how.widths ?? [1, 4, 2];
  const rows: [number, number, number, number][] = [];
  let text = '';
  let next = Math.max(size, ...Object.keys(objects).map((number) => Number(number) + 1));
  const add = (number: number, body: string) => {
    rows.push([number, 1, pdf.length + text.length, 0]);
    text += `${number} 0 obj\n${body}\nendobj\n`;
  };
  for (const [number, body] of Object.entries(objects)) add(Number(number), body);
  if (how.packed !== undefined) {
    const numbers = how.packed.entries.map(([number]) => number);
    next = Math.max(next, ...numbers.map((number) => number + 1));
    const container = next++;
    add(container, how.packed.body);
    for (const [number, index] of how.packed.entries) rows.push([number, 2, container, index]);
  }
  const at = pdf.length + text.length;
  if (!how.unlisted) rows.push([next, 1, at, 0]);
  rows.push(...(how.rows ?? []));
  rows.sort(([a], [b]) => a - b);
  const data = rows
    .map(([, ...fields]) =>
      fields.map((field, index) => field.toString(16).padStart(2 * (widths[index] ?? 0), '0')).join(''),
    )
    .join('');
  const content = Buffer.from(data, 'hex').toString('latin1') + (how.extra ?? '');
  const index = rows.map(([number]) => `${number} 1`).join(' ');
  const dict = `${how.type ?? '/Type /XRef'} /Size ${next + 1} /W [${widths.join(' ')}] /Index [${index}] /Root ${root} ${how.prev ?? `/Prev ${startxref}`} ${how.dict ?? ''}`;
  text += `${next} 0 obj\n${stream(content, dict)}\nendobj\nstartxref\n${at}\n%%EOF\n`;
  return Buffer.concat([pdf, Buffer.from(text, 'latin1')]);
}

interface Packed {
  body: string;
  entries: readonly [number: number, index: number][];
}

/** An object stream; `index` and `after` make it irregular. */
export function pack(objects: readonly [number, string][], { dict = '', after = '' } = {}): Packed {
  let [head, body] = ['', ''];
  for (const [number, text] of objects) {
    head += `${number} ${body.length} `;
    body += `${text}\n`;
  }
  const data = head + body + after;
  return {
    body: stream(data, `/Type /ObjStm /N ${objects.length} /First ${head.length} ${dict}`),
    entries: objects.map(([number], index) => [number, index]),
  };
}
