import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkSeal } from '../../../src/documents/seal/check-seal.ts';
import { PdfBytes } from '../../../src/documents/seal/pdf-bytes.ts';
import { PdfFile } from '../../../src/documents/seal/pdf-file.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'esign-hostile-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const STATES = ['unsigned', 'unreadable'];

async function stateOf(pdf: string | Buffer) {
  const path = join(folder, 'hostile.pdf');
  writeFileSync(path, pdf, 'latin1');
  return (await checkSeal(path)).seal.state;
}

/** A file with these objects, numbered from 1; the first one is the catalog. */
function fileOf(objects: readonly string[], trailer = ''): string {
  let text = '%PDF-1.7\n';
  const entries = objects.map((body, index) => {
    const entry = `${String(text.length).padStart(10, '0')} 00000 n \n`;
    text += `${index + 1} 0 obj\n${body}\nendobj\n`;
    return entry;
  });
  const at = text.length;
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries.join('')}`;
  return `${text}${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${at}\n%%EOF\n`;
}

/** A file whose cross-references are a stream. */
function streamFile(dict: string, data: Buffer): Buffer {
  const head = `%PDF-1.7\n`;
  const object = `1 0 obj\n<< /Type /XRef /Root 1 0 R ${dict} /Length ${data.length} >>\nstream\n`;
  const tail = `\nendstream\nendobj\nstartxref\n${head.length}\n%%EOF\n`;
  return Buffer.concat([Buffer.from(head + object, 'latin1'), data, Buffer.from(tail, 'latin1')]);
}

/** A file with many updates, each with the maximum number of cross-references. */
function chainFile(revisions: number): Buffer {
  const packed = deflateSync(Buffer.alloc(16_000_000));
  const parts = [Buffer.from('%PDF-1.7\n')];
  let [at, previous] = [9, ''];
  for (let revision = 0; revision < revisions; revision++) {
    const dict = `/Type /XRef /Size 9 /W [1 4 2] /Filter /FlateDecode /Length ${packed.length} ${previous}`;
    previous = `/Prev ${at}`;
    parts.push(Buffer.from(`1 0 obj\n<< ${dict} >>\nstream\n`), packed, Buffer.from('\nendstream\nendobj\n'));
    at = parts.reduce((sum, part) => sum + part.length, 0);
  }
  return Buffer.concat([...parts, Buffer.from(`startxref\n${previous.slice(6)}\n%%EOF\n`)]);
}

const bomb = (bytes: number) => deflateSync(Buffer.alloc(bytes));
const fields = 100_000;

const HOSTILE: Record<string, () => string | Buffer> = {
  'an empty file': () => '',
  'not a PDF': () => 'hello',
  'only a header': () => '%PDF-1.7\n',
  'a startxref beyond the end': () => '%PDF-1.7\nstartxref\n999999999999\n%%EOF\n',
  'a startxref to itself': () => '%PDF-1.7\nstartxref\n9\n%%EOF\n',
  'revisions in a circle': () =>
    fileOf(['<< >>'], '/Prev 30').replace('/Prev 30', `/Prev ${fileOf(['<< >>']).indexOf('xref')}`),
  'a catalog that is itself': () => fileOf(['1 0 R']),
  'fields in a circle': () =>
    fileOf(['<< /AcroForm << /Fields [2 0 R] >> >>', '<< /Kids [2 0 R 3 0 R] >>', '<< /Kids [2 0 R] >>']),
  'a hundred thousand nested fields': () =>
    fileOf([
      '<< /AcroForm << /Fields [2 0 R] >> >>',
      ...Array.from({ length: fields }, (_, index) => `<< /Kids [${index + 3} 0 R] >>`),
      '<< >>',
    ]),
  'a hundred thousand sibling fields': () =>
    fileOf([`<< /AcroForm << /Fields [${'2 0 R '.repeat(fields)}] >> >>`, '<< /FT /Sig >>']),
  'nested arrays': () => fileOf([`<< /AcroForm ${'['.repeat(fields)}${']'.repeat(fields)} >>`]),
  'nested dictionaries': () => fileOf([`<< /AcroForm ${'<< /A '.repeat(fields)} >>`]),
  'a string without an end': () => fileOf([`<< /A (${'('.repeat(1_000_000)} >>`]),
  'a cross-reference stream that is a compression bomb': () =>
    streamFile('/Size 9 /W [1 4 2] /Filter /FlateDecode', bomb(64_000_000)),
  'a cross-reference stream with billions of entries': () =>
    streamFile('/Size 4000000000 /W [1 4 2]', Buffer.alloc(70)),
  'a stream of predictors': () =>
    streamFile(
      '/Size 9 /W [1 4 2] /Filter /FlateDecode /DecodeParms << /Predictor 15 /Columns 1 >>',
      bomb(16_000_000),
    ),
  'five hundred revisions that unpack to 16 MB each': () => chainFile(500),
  'a million subsections': () =>
    streamFile(`/Size 9 /W [1 4 2] /Index [${'0 1 '.repeat(1_000_000)}]`, Buffer.alloc(70)),
};

describe('hostile files', () => {
  it.each(Object.entries(HOSTILE))('get a verdict in little time and memory: %s', async (_, make) => {
    const pdf = make();
    const before = process.memoryUsage().rss;
    expect(STATES).toContain(await stateOf(pdf));
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000);
  });

  it('are reported as signed and unreadable, not unsigned, if a signature is in an invalid place', async () => {
    const path = join(folder, 'inside.pdf');
    writeFileSync(
      path,
      fileOf(['<< /AcroForm << /Fields [2 0 R] >> >>', '<< /FT /Sig /V << /Type /Sig >> >>']),
    );
    expect(await checkSeal(path)).toMatchObject({ isSigned: true, seal: { state: 'unreadable' } });
  });

  it('take no more resources with 300 MB than with a few bytes', async () => {
    const path = join(folder, 'large.pdf');
    const file = openSync(path, 'w');
    writeSync(file, '%PDF-1.7\n1 0 obj\n<< >>\nendobj\n');
    const block = Buffer.alloc(10_000_000);
    for (let written = 0; written < 30; written++) writeSync(file, block);
    const at = 300_000_000 + '%PDF-1.7\n1 0 obj\n<< >>\nendobj\n'.length;
    writeSync(
      file,
      `xref\n0 2\n0000000000 65535 f \n0000000009 00000 n \ntrailer\n<< /Size 2 /Root 1 0 R >>\nstartxref\n${at}\n%%EOF\n`,
    );
    closeSync(file);
    const before = process.memoryUsage().rss;
    expect((await checkSeal(path)).seal.state).toBe('unsigned');
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  });

  it('get a verdict even if their lookups are endless', () => {
    const path = join(folder, 'lookups.pdf');
    writeFileSync(path, fileOf(['<< >>']));
    const bytes = PdfBytes.open(path);
    const file = new PdfFile(bytes);
    const lookUp = () => {
      for (let number = 0; number < 10_000_000; number++) file.placeOf(1_000 + number, 0);
    };
    expect(lookUp).toThrow('too complex');
    bytes.close();
  });

  it('get a verdict even if they contain random bytes', async () => {
    const word = fc.constantFrom(
      ...[
        '<<',
        '>>',
        '[',
        ']',
        '(',
        ')',
        '<',
        '/Root',
        '/AcroForm',
        '/Fields',
        '/Kids',
        '/FT',
        '/Sig',
        '/V',
        '/ByteRange',
        '/Contents',
      ],
      ...[
        '1 0 R',
        '2 0 R',
        '99 0 R',
        'obj',
        'endobj',
        'xref',
        'trailer',
        'startxref',
        '0 2',
        '%%EOF',
        'stream',
        'null',
        '-1',
        '9',
      ],
    );
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 60 }), fc.nat(300), async (words, start) => {
        const pdf = `%PDF-1.7\n${words.join(' ')}\nstartxref\n${start}\n%%EOF\n`;
        expect(STATES).toContain(await stateOf(pdf));
      }),
      { numRuns: 300 },
    );
  });
});
