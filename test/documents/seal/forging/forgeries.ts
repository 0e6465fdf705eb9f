import { objectText, partsOf } from '../../../../src/sandbox/documents/tampering.ts';
import {
  type Deviation,
  DOCUMENT,
  der,
  documentOf,
  FORGED,
  HONEST,
  type Objects,
  pack,
  stream,
  streamUpdate,
  update,
  words,
} from './writer.ts';

export type Seal = (pdf: Buffer) => Promise<Buffer>;
export type Documents = Record<string, Buffer>;

const CERTIFICATE = stream(der('certificate'));
/** The same with page operators inside. */
const OPERATORS = stream(der(`\n${words(FORGED)}\n`));
/** Numbers that no document uses. */
const [STORE, EVIDENCE, MORE] = [60, 61, 62];
const PAGE = DOCUMENT[3] ?? '';

function catalog(pdf: Buffer, more: string): Objects {
  const text = objectText(pdf, 1);
  return { 1: `${text.slice(0, text.lastIndexOf('>>'))} ${more} >>` };
}

/** A conforming update with a certificate. */
function withStore(pdf: Buffer, how: Deviation = {}, evidence = CERTIFICATE): Buffer {
  const objects = { [STORE]: `<< /Type /DSS /Certs [${EVIDENCE} 0 R] >>`, [EVIDENCE]: evidence };
  return update(pdf, { ...catalog(pdf, `/DSS ${STORE} 0 R`), ...objects }, how);
}

/** Another conforming update, on top of it. */
function withMore(pdf: Buffer, how: Deviation = {}): Buffer {
  const objects = { [STORE]: `<< /Type /DSS /Certs [${EVIDENCE} 0 R 70 0 R] >>`, 70: CERTIFICATE };
  return update(pdf, objects, how);
}

/** Allowed updates: their seals stay whole, so a forgery is refused for its own deviation. */
export const CONFORMING: Record<string, (pdf: Buffer) => Buffer> = {
  'a certificate': (pdf) => withStore(pdf),
  'a certificate, with CR LF': (pdf) => withStore(pdf, { lineEnd: '\r\n' }),
  'two updates': (pdf) => withMore(withStore(pdf)),
  'an identifier': (pdf) => withStore(pdf, { trailer: '/ID [<00> <01>]' }),
  'a cross-reference stream': (pdf) => streamUpdate(pdf, { ...catalog(pdf, '/DSS << >>') }),
  'a cross-reference stream with wide fields': (pdf) =>
    streamUpdate(pdf, { ...catalog(pdf, '/DSS << >>') }, { widths: [1, 8, 2], unlisted: true }),
  'an object stream': (pdf) =>
    streamUpdate(
      pdf,
      { ...catalog(pdf, `/DSS ${STORE} 0 R`), [EVIDENCE]: CERTIFICATE },
      { packed: pack([[STORE, `<< /Certs [${EVIDENCE} 0 R] >>`]]) },
    ),
  'data per signature': (pdf) =>
    update(pdf, {
      ...catalog(
        pdf,
        `/DSS << /VRI << /00AA << /TS ${EVIDENCE} 0 R /TU (D:2026) /Cert [${EVIDENCE} 0 R] >> >> >>`,
      ),
      [EVIDENCE]: CERTIFICATE,
    }),
  'an extension': (pdf) =>
    update(pdf, catalog(pdf, '/Extensions << /ESIC << /BaseVersion /1.7 /ExtensionLevel 5 >> >>')),
};

/** Places where the sealed part can refer to a missing object that is added later. */
const WAITING: Record<string, Objects> = {
  contents: { 3: PAGE.replace('/Contents 4 0 R', `/Contents [4 0 R ${EVIDENCE} 0 R]`) },
  form: { 3: PAGE.replace('/Font', `/XObject << /X ${EVIDENCE} 0 R >> /Font`) },
  box: { 3: PAGE.replace('/Contents', `/CropBox ${EVIDENCE} 0 R /Contents`) },
  annotations: { 3: PAGE.replace('/Contents', `/Annots [${EVIDENCE} 0 R] /Contents`) },
  actions: { 3: PAGE.replace('/Contents', `/AA ${EVIDENCE} 0 R /Contents`) },
  font: { 5: `<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Widths ${EVIDENCE} 0 R >>` },
  length: { 4: stream(words(HONEST)).replace(/\/Length \d+/, `/Length ${EVIDENCE} 0 R`) },
  names: { 1: `<< /Type /Catalog /Pages 2 0 R /Names ${EVIDENCE} 0 R >>` },
};

/** Ways to add an object that has the form of validation data. */
const CARRIERS: Record<string, (pdf: Buffer) => Buffer> = {
  Certs: (pdf) => withStore(pdf, {}, OPERATORS),
  OCSPs: (pdf) =>
    update(pdf, { ...catalog(pdf, `/DSS << /OCSPs [${EVIDENCE} 0 R] >>`), [EVIDENCE]: OPERATORS }),
  TS: (pdf) =>
    update(pdf, {
      ...catalog(pdf, `/DSS << /VRI << /AA << /TS ${EVIDENCE} 0 R >> >> >>`),
      [EVIDENCE]: OPERATORS,
    }),
  Extensions: (pdf) => update(pdf, { ...catalog(pdf, `/Extensions ${EVIDENCE} 0 R`), [EVIDENCE]: '<< >>' }),
  DSS: (pdf) => update(pdf, { ...catalog(pdf, `/DSS ${EVIDENCE} 0 R`), [EVIDENCE]: '<< /Type /DSS >>' }),
  list: (pdf) => update(pdf, { ...catalog(pdf, `/DSS << /CRLs ${EVIDENCE} 0 R >>`), [EVIDENCE]: '[ ]' }),
  VRI: (pdf) => update(pdf, { ...catalog(pdf, `/DSS << /VRI ${EVIDENCE} 0 R >>`), [EVIDENCE]: '<< >>' }),
  packed: (pdf) =>
    streamUpdate(pdf, catalog(pdf, `/DSS ${EVIDENCE} 0 R`), { packed: pack([[EVIDENCE, '<< >>']]) }),
  container: (pdf) =>
    // The object stream itself gets the next number after the highest.
    streamUpdate(pdf, catalog(pdf, `/DSS ${EVIDENCE - 1} 0 R`), { packed: pack([[EVIDENCE - 1, '<< >>']]) }),
};

const older = (pdf: Buffer) => Number(/startxref\s+(\d+)/.exec(partsOf(pdf).text)?.[1]);
const OTHER_TEXT = { 4: stream(words(FORGED)) };

/** One deviation each from a conforming update. */
export const DEVIATIONS: Record<string, (pdf: Buffer) => Deviation> = {
  'a comment before the first object': () => ({ lead: '% hidden\n' }),
  'a word before the first object': () => ({ lead: 'hidden\n' }),
  'blanks before the first object': () => ({ lead: '   ' }),
  'a NUL before the first object': () => ({ lead: '\0' }),
  'many line ends': () => ({ lead: '\n\n\n\n' }),
  'a comment between objects': () => ({ between: '% 4 0 obj\n' }),
  'a comment before the table': () => ({ beforeTable: '%\n' }),
  'a form feed between objects': () => ({ between: '\f' }),
  'an unlisted page': () => ({
    unlisted: { 3: PAGE.replace('4 0 R', `${MORE} 0 R`), [MORE]: OTHER_TEXT[4] },
  }),
  'unlisted contents': () => ({ unlisted: OTHER_TEXT }),
  'an unlisted new object': () => ({ unlisted: { [MORE]: '<< >>' } }),
  'an unlisted catalog': () => ({ unlisted: { 1: '<< /Type /Catalog /Pages 2 0 R >>' } }),
  'line ends in the head': () => ({ head: 'xref\n\n\n' }),
  'a comment in the head': () => ({ head: 'xref % table\n' }),
  'blanks before the head': () => ({ head: `${' '.repeat(20)}xref\n` }),
  'a line end before the head': () => ({ beforeTable: '\n', shift: -1 }),
  'a startxref too high': () => ({ shift: 1 }),
  'a startxref too low': () => ({ shift: -2 }),
  'a real Prev': (pdf) => ({ prev: `/Prev ${partsOf(pdf).startxref}.0` }),
  'a signed Prev': (pdf) => ({ prev: `/Prev +${partsOf(pdf).startxref}` }),
  'a Prev with zeros': (pdf) => ({ prev: `/Prev 000${partsOf(pdf).startxref}` }),
  'two Prev': (pdf) => ({ prev: `/Prev ${older(pdf)} /Prev ${partsOf(pdf).startxref}` }),
  'two Prev, the last one older': (pdf) => ({ prev: `/Prev ${partsOf(pdf).startxref} /Prev ${older(pdf)}` }),
  'an escaped second Prev': (pdf) => ({ prev: `/Prev ${partsOf(pdf).startxref} /Pr#65v ${older(pdf)}` }),
  'a Prev to the revision before': (pdf) => ({ prev: `/Prev ${older(pdf)}` }),
  'a Prev to the %%EOF': (pdf) => ({ prev: `/Prev ${pdf.lastIndexOf('%%EOF')}` }),
  'a Prev by reference': () => ({ prev: '/Prev 5 0 R' }),
  'no Prev': () => ({ prev: '' }),
  'a Prev of 0': () => ({ prev: '/Prev 0' }),
  'a Prev that is one too high': (pdf) => ({ prev: `/Prev ${partsOf(pdf).startxref + 1}` }),
  'no Size': () => ({ size: '' }),
  'a small Size': () => ({ size: '/Size 3' }),
  'a large Size': () => ({ size: '/Size 9999' }),
  'a real Size': () => ({ size: '/Size 62.0' }),
  'two Size': () => ({ size: '/Size 3 /Size 62' }),
  'another Root': () => ({ root: '/Root 2 0 R' }),
  'no Root': () => ({ root: '' }),
  'two Root': () => ({ root: '/Root 2 0 R /Root 1 0 R' }),
  'another generation of Root': () => ({ root: '/Root 1 1 R' }),
  'a new Info': () => ({ trailer: '/Info 5 0 R' }),
  'an XRefStm': (pdf) => ({ trailer: `/XRefStm ${partsOf(pdf).startxref}` }),
  'an Encrypt': () => ({ trailer: '/Encrypt << /Filter /Standard /V 1 /R 2 /O (x) /U (x) /P -4 >>' }),
  'a null Encrypt': () => ({ trailer: '/Encrypt null' }),
  'another key': () => ({ trailer: '/AdditionalStreams [5 0 R]' }),
  'a comment in the trailer': () => ({ trailer: '% /Prev 0\n' }),
  'an ID of numbers': () => ({ trailer: '/ID [1 2]' }),
  'a freed object': () => ({ entries: '4 1\n0000000000 00001 f \n' }),
  'an entry twice': () => ({ entries: '1 1\n0000000009 00000 n \n' }),
  'an entry for old bytes': () => ({ entries: '4 1\n0000000009 00000 n \n' }),
  'an entry past the end': () => ({ entries: '63 1\n0000999999 00000 n \n' }),
  'entries that are one too high': () => ({ offset: 1 }),
  'another generation': () => ({ kind: '00001 n' }),
  'an unknown kind of entry': () => ({ kind: '00000 x' }),
  'an empty subsection': () => ({ entries: '0 0\n' }),
  'no %%EOF': () => ({ end: 'startxref\nAT\n' }),
  'a word after the end': () => ({ end: 'startxref\nAT\n%%EOF\nhidden' }),
  'a comment after the end': () => ({ end: 'startxref\nAT\n%%EOF\n% hidden\n' }),
  'blanks after the end': () => ({ end: 'startxref\nAT\n%%EOF\n     ' }),
  'a second %%EOF': () => ({ end: 'startxref\nAT\n%%EOF\n%%EOF\n' }),
  'a second startxref': (pdf) => ({ end: `startxref\nAT\n%%EOF\nstartxref\n${older(pdf)}\n%%EOF\n` }),
  'a startxref before it': (pdf) => ({ end: `startxref\n${older(pdf)}\nstartxref\nAT\n%%EOF\n` }),
  'a comment before startxref': () => ({ end: '% hidden\nstartxref\nAT\n%%EOF\n' }),
  'a second header': () => ({ lead: '%PDF-1.7\n' }),
  'a second trailer': () => ({ end: 'trailer\n<< /Root 2 0 R >>\nstartxref\nAT\n%%EOF\n' }),
};

/** Well-formed updates that add or replace something other than validation data. */
const ADDITIONS: Record<string, (pdf: Buffer) => Buffer> = {
  'other contents': (pdf) => update(pdf, OTHER_TEXT),
  'the same contents': (pdf) => update(pdf, { 4: DOCUMENT[4] ?? '' }),
  'another page': (pdf) => update(pdf, { 3: PAGE.replace('4 0 R', '60 0 R'), 60: stream(words(FORGED)) }),
  'another tree of pages': (pdf) => update(pdf, { 2: '<< /Type /Pages /Kids [ ] /Count 0 >>' }),
  'another font': (pdf) => update(pdf, { 5: '<< /Type /Font /Subtype /Type1 /BaseFont /Symbol >>' }),
  'nothing that refers to it': (pdf) => update(pdf, { 60: '<< >>' }),
  'contents as evidence': (pdf) => withStore(pdf, {}, stream(words(FORGED))),
  'evidence with a type': (pdf) => withStore(pdf, {}, stream(der('x'), '/Type /XObject')),
  'evidence with an object inside': (pdf) =>
    withStore(pdf, {}, stream(der(`4 0 obj\n${OTHER_TEXT[4]}\nendobj`))),
  'evidence with a trailer inside': (pdf) => withStore(pdf, {}, stream(der('trailer << /Root 2 0 R >>'))),
  'evidence with bytes after it': (pdf) => withStore(pdf, {}, stream(`${der('x')}${words(FORGED)}`)),
  'evidence of an indirect length': (pdf) =>
    withStore(pdf, {}, CERTIFICATE.replace(/\/Length \d+/, '/Length 5 0 R')),
  'evidence of a wrong length': (pdf) => withStore(pdf, {}, CERTIFICATE.replace(/\/Length \d+/, '/Length 3')),
  'evidence that repeats a key': (pdf) => withStore(pdf, {}, stream(der('x'), '/Length 3')),
  'evidence that is missing': (pdf) => update(pdf, catalog(pdf, '/DSS << /Certs [61 0 R] >>')),
  'evidence that comes in a later update': (pdf) =>
    withMore(update(pdf, { ...catalog(pdf, '/DSS 60 0 R'), 60: '<< /Certs [70 0 R] >>' })),
  'evidence that a later update replaces': (pdf) => update(withStore(pdf), { 61: OPERATORS }),
  'evidence that becomes a store': (pdf) =>
    update(withStore(pdf), { ...catalog(withStore(pdf), '/DSS 61 0 R') }),
  'contents that become a store': (pdf) => update(pdf, { ...catalog(pdf, '/DSS 4 0 R'), 4: '<< >>' }),
  'a store that is an extension, too': (pdf) =>
    update(pdf, { ...catalog(pdf, '/DSS 60 0 R /Extensions 60 0 R'), 60: '<< >>' }),
  'evidence that is replaced with its store': (pdf) =>
    update(withStore(pdf), { 60: '<< /Type /DSS /Certs [61 0 R] >>', 61: OPERATORS }),
  'a store with another key': (pdf) => update(pdf, catalog(pdf, '/DSS << /Kids [3 0 R] >>')),
  'a store that is the catalog': (pdf) => update(pdf, catalog(pdf, '/DSS 1 0 R')),
  'an extension that refers to something': (pdf) =>
    update(pdf, catalog(pdf, '/Extensions << /X << /BaseVersion 3 0 R >> >>')),
  'an extension with another key': (pdf) => update(pdf, catalog(pdf, '/Extensions << /X << /JS (x) >> >>')),
  'an action': (pdf) => update(pdf, catalog(pdf, '/OpenAction << /S /JavaScript /JS (x) >>')),
  'a list of optional content': (pdf) => update(pdf, catalog(pdf, '/OCProperties << /OCGs [ ] /D << >> >>')),
  'another tree in the catalog': (pdf) =>
    update(pdf, { 1: objectText(pdf, 1).replace('/Pages 2', '/Pages 60'), 60: DOCUMENT[2] ?? '' }),
  'a repeated key in the catalog': (pdf) => update(pdf, catalog(pdf, '/Pages 2 0 R')),
  'an escaped key in the catalog': (pdf) => update(pdf, catalog(pdf, '/P#61ges 3 0 R')),
  'a catalog with a comment': (pdf) => update(pdf, catalog(pdf, '% x\n/DSS << >>')),
  'a field of a text': (pdf) => withField(pdf, '<< /FT /Tx /T (x) /V (x) >>'),
  'a field that is a page': (pdf) => withField(pdf, '<< /FT /Sig /T (x) /Type /Page /Contents 4 0 R >>'),
  'a field without a timestamp': (pdf) => withField(pdf, '<< /FT /Sig /T (x) /Rect [0 0 0 0] >>'),
  'a field that can be seen': (pdf) => withField(pdf, '<< /FT /Sig /T (x) /Rect [0 0 99 99] >>'),
  'a form with other fields': (pdf) => withForm(pdf, '/Fields [ ]'),
  'a form that needs appearances': (pdf) => withForm(pdf, '/NeedAppearances true'),
  XFA: (pdf) => withForm(pdf, '/XFA (x)'),
};

function formOf(pdf: Buffer): number {
  return Number(/\/AcroForm (\d+) 0 R/.exec(pdf.toString('latin1'))?.[1]);
}

function withForm(pdf: Buffer, more: string): Buffer {
  const text = objectText(pdf, formOf(pdf)).replace(
    more.startsWith('/Fields') ? /\/Fields \[[^\]]*\]/ : /$^/,
    '',
  );
  return update(pdf, { [formOf(pdf)]: `${text.slice(0, text.lastIndexOf('>>'))} ${more} >>` });
}

function withField(pdf: Buffer, field: string): Buffer {
  const text = objectText(pdf, formOf(pdf)).replace(/\/Fields \[([^\]]*)\]/, '/Fields [$1 60 0 R]');
  return update(pdf, { [formOf(pdf)]: text, 60: field });
}

const STORE_IN_STREAM = (pdf: Buffer) => catalog(pdf, '/DSS 60 0 R');

/** Cross-reference streams and object streams that readers interpret differently. */
export const STREAMS: Record<string, (pdf: Buffer) => Buffer> = {
  'an object twice in the stream': (pdf) =>
    streamUpdate(pdf, STORE_IN_STREAM(pdf), {
      packed: {
        ...pack([
          [60, '<< >>'],
          [60, '<< /X 3 0 R >>'],
        ]),
        entries: [[60, 0]],
      },
    }),
  'an index to another object': (pdf) =>
    streamUpdate(pdf, STORE_IN_STREAM(pdf), {
      packed: {
        ...pack([
          [60, '<< >>'],
          [4, '<< >>'],
        ]),
        entries: [[60, 1]],
      },
    }),
  'two indexes that are swapped': (pdf) =>
    streamUpdate(pdf, catalog(pdf, '/DSS 60 0 R /Extensions 61 0 R'), {
      packed: {
        ...pack([
          [60, '<< >>'],
          [61, '<< >>'],
        ]),
        entries: [
          [60, 1],
          [61, 0],
        ],
      },
    }),
  'an unlisted object in the stream': (pdf) =>
    streamUpdate(pdf, STORE_IN_STREAM(pdf), {
      packed: {
        ...pack([
          [60, '<< >>'],
          [61, '<< >>'],
        ]),
        entries: [[60, 0]],
      },
    }),
  'a page in the stream': (pdf) => streamUpdate(pdf, {}, { packed: pack([[3, PAGE]]) }),
  'bytes after the objects': (pdf) =>
    streamUpdate(pdf, STORE_IN_STREAM(pdf), { packed: pack([[60, '<< >>']], { after: words(FORGED) }) }),
  'a stream that extends another': (pdf) =>
    streamUpdate(pdf, STORE_IN_STREAM(pdf), { packed: pack([[60, '<< >>']], { dict: '/Extends 4 0 R' }) }),
  'a stream that is contents': (pdf) =>
    streamUpdate(
      pdf,
      { 3: PAGE.replace('4 0 R', '62 0 R') },
      { packed: pack([[60, '<< >>']], { after: words(FORGED) }) },
    ),
  'a container that is missing': (pdf) => streamUpdate(pdf, STORE_IN_STREAM(pdf), { rows: [[60, 2, 99, 0]] }),
  'a freed object in the stream': (pdf) =>
    streamUpdate(pdf, catalog(pdf, '/DSS << >>'), { rows: [[4, 0, 0, 1]] }),
  'an unknown type of row': (pdf) => streamUpdate(pdf, catalog(pdf, '/DSS << >>'), { rows: [[4, 3, 0, 1]] }),
  'a row for old bytes': (pdf) => streamUpdate(pdf, catalog(pdf, '/DSS << >>'), { rows: [[4, 1, 9, 0]] }),
  'bytes after the rows': (pdf) =>
    streamUpdate(pdf, catalog(pdf, '/DSS << >>'), { extra: '\x01\0\0\0\x09\0\0' }),
  'another key in the stream': (pdf) => streamUpdate(pdf, catalog(pdf, '/DSS << >>'), { dict: '/XRefStm 9' }),
  'a Prev to the %%EOF in the stream': (pdf) =>
    streamUpdate(pdf, catalog(pdf, '/DSS << >>'), { prev: `/Prev ${pdf.lastIndexOf('%%EOF')}` }),
  'two Prev in the stream': (pdf) =>
    streamUpdate(pdf, catalog(pdf, '/DSS << >>'), {
      prev: `/Prev ${older(pdf)} /Prev ${partsOf(pdf).startxref}`,
    }),
  'a real Prev in the stream': (pdf) =>
    streamUpdate(pdf, catalog(pdf, '/DSS << >>'), { prev: `/Prev ${partsOf(pdf).startxref}.0` }),
  'no type': (pdf) => streamUpdate(pdf, catalog(pdf, '/DSS << >>'), { type: '' }),
};

/** A section that shows other contents, in a place that a conforming update's Prev must not point to. */
function behind(pdf: Buffer): Buffer {
  const { size, root, startxref } = partsOf(pdf);
  // After the %%EOF of the sealed part, a cross-reference stream; then an empty update whose Prev points to the %%EOF.
  const body = `4 0 obj\n${OTHER_TEXT[4]}\nendobj\n`;
  const at = (number: number) => number.toString(16).padStart(8, '0');
  const own = pdf.length;
  const content = (place: number) => Buffer.from(`01${at(place)}0000`, 'hex').toString('latin1');
  const xref = (place: number) =>
    `${size} 0 obj\n${stream(content(place), `/Type /XRef /Size ${size + 1} /W [1 4 2] /Index [4 1] /Root ${root} /Prev ${startxref}`)}\nendobj\n`;
  const first = Buffer.concat([pdf, Buffer.from(xref(own + xref(0).length) + body, 'latin1')]);
  const end = `xref\n0 0\ntrailer\n<< /Size ${size + 1} /Root ${root} /Prev ${pdf.lastIndexOf('%%EOF')} >>\nstartxref\n${first.length}\n%%EOF\n`;
  return Buffer.concat([first, Buffer.from(end, 'latin1')]);
}

/**
 * A document whose author hid other contents in a stream, with a table that leads to them and then to the table of the
 * sealed part. Seals have a fixed size, so the author knows the offset in advance.
 */
async function shadowOf(seal: Seal): Promise<Buffer> {
  const make = (contents: number, prev: number) => {
    const offset = (at: number) => String(at).padStart(10, '0');
    const table = `xref\n4 1\n${offset(contents)} 00000 n \ntrailer\n<< /Size 10 /Root 1 0 R /Prev ${offset(prev)} >>\n`;
    return documentOf({ ...DOCUMENT, 6: stream(`4 0 obj\n${OTHER_TEXT[4]}\nendobj\n${table}`) });
  };
  const contents = make(0, 0).indexOf('4 0 obj', make(0, 0).indexOf('6 0 obj'));
  const first = await seal(make(contents, 0));
  return seal(make(contents, partsOf(first).startxref));
}

/** Creates the sealed documents that forgeries start from: an ordinary one, and those prepared by their author. */
export async function sealedDocuments(seal: Seal): Promise<Documents> {
  const documents: Documents = { plain: await seal(documentOf()) };
  for (const [name, objects] of Object.entries(WAITING))
    documents[name] = await seal(documentOf({ ...DOCUMENT, ...objects }));
  documents.shadow = await shadowOf(seal);
  documents.long = await seal(
    documentOf({ ...DOCUMENT, 4: stream(words(HONEST)).replace(/\/Length \d+/, '/Length 30000') }),
  );
  return documents;
}

/** Every forgery by name. None may be whole. */
export function* forgeries(documents: Documents): Generator<[string, Buffer]> {
  const { plain = Buffer.alloc(0), shadow = plain, long = plain } = documents;
  for (const [name, deviation] of Object.entries(DEVIATIONS)) {
    yield [name, withStore(plain, deviation(plain))];
    const first = withStore(plain);
    yield [`${name}, in a second update`, withMore(first, deviation(first))];
    yield [
      `${name}, with other contents`,
      update(plain, { ...OTHER_TEXT, ...catalog(plain, '/DSS << >>') }, deviation(plain)),
    ];
  }
  for (const [name, forge] of [...Object.entries(ADDITIONS), ...Object.entries(STREAMS)])
    yield [name, forge(plain)];
  for (const [where] of Object.entries(WAITING))
    for (const [carrier, bring] of Object.entries(CARRIERS))
      yield [`${where}, brought as ${carrier}`, bring(documents[where] ?? plain)];
  yield ['contents that reach into the update', withStore(long, {}, OPERATORS)];
  const at = shadow.indexOf('xref\n4 1');
  yield ['a Prev to a hidden table', update(shadow, {}, { prev: `/Prev ${at}` })];
  yield ['a Prev to a hidden table, with a store', withStore(shadow, { prev: `/Prev ${at}` })];
  yield ['a section behind the sealed part', behind(plain)];
  yield ['white space', Buffer.concat([plain, Buffer.from('\n')])];
  yield ['the sealed part twice', Buffer.concat([plain, plain])];
  yield ['an update cut short', withStore(plain).subarray(0, -3)];
  yield ['a header before it', Buffer.concat([Buffer.from('%PDF-1.4\n'), plain])];
}
