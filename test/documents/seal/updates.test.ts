import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PdfBytes } from '../../../src/documents/seal/pdf-bytes.ts';
import { PdfFile } from '../../../src/documents/seal/pdf-file.ts';
import { UnreadablePdfError } from '../../../src/documents/seal/pdf-values.ts';
import { readUpdates, type Update } from '../../../src/documents/seal/updates.ts';
import { CONFORMING, DEVIATIONS, STREAMS } from './forging/forgeries.ts';
import { documentOf, pack, stream, streamUpdate, update } from './forging/writer.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'esign-updates-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A file with two revisions, as sealed files have. */
const SEALED = update(documentOf(), { 6: '<< >>' });

/** The updates after the sealed part. */
function updatesOf(pdf: Buffer, sealedEnd = SEALED.length): Update[] {
  const path = join(folder, 'a.pdf');
  writeFileSync(path, pdf);
  const bytes = PdfBytes.open(path);
  try {
    const [sealed] = new PdfFile(bytes.until(sealedEnd)).revisions;
    if (sealed === undefined) throw new Error('no revision');
    return readUpdates(bytes, sealedEnd, sealed);
  } finally {
    bytes.close();
  }
}
/** The objects and containers of each update. */
const numbersOf = (updates: readonly Update[]) =>
  updates.map(({ objects, containers }) => [[...objects.keys()], [...containers]]);
const isRefused = (pdf: Buffer, sealedEnd?: number) => {
  try {
    updatesOf(pdf, sealedEnd);
    return false;
  } catch (error) {
    if (error instanceof UnreadablePdfError) return true;
    throw error;
  }
};

describe('the additions to a sealed file', () => {
  it.each<[keyof typeof CONFORMING, unknown]>([
    ['a certificate', [[[1, 60, 61], []]]],
    [
      'two updates',
      [
        [[1, 60, 61], []],
        [[60, 70], []],
      ],
    ],
    ['a cross-reference stream', [[[1], [7]]]],
    ['a cross-reference stream with wide fields', [[[1], [7]]]],
    [
      'an object stream',
      [
        [
          [1, 61, 60],
          [62, 63],
        ],
      ],
    ],
  ])('are listed: %s', (name, expected) => {
    expect(numbersOf(updatesOf(CONFORMING[name]?.(SEALED) ?? SEALED))).toEqual(expected);
  });

  it('are empty at the end of the sealed part', () => {
    expect(updatesOf(SEALED)).toEqual([]);
  });

  it.each<[string, Buffer, number?]>([
    ['an identifier', update(SEALED, { 60: '<< >>' }, { trailer: '/ID [<00> <01>]' })],
    ['an entry for object 0', update(SEALED, { 60: '<< >>' }, { entries: '0 1\n0000000000 65535 f \n' })],
    ['two line ends before an object', update(SEALED, { 60: '<< >>' }, { lead: '\n\n' })],
    ['no line end at the end', update(SEALED, { 60: '<< >>' }, { end: 'startxref\nAT\n%%EOF' })],
    ['two line ends at the end', update(SEALED, { 60: '<< >>' }, { end: 'startxref\nAT\n%%EOF\n\n' })],
    [
      'a line end that the sealed part lacks',
      update(SEALED.subarray(0, -1), { 60: '<< >>' }, { lead: '\n' }),
      SEALED.length - 1,
    ],
  ])('may have %s', (_, pdf, sealedEnd) => {
    const [one] = updatesOf(pdf, sealedEnd);
    expect(one?.next).toBe(pdf.length);
  });

  it('are followed up to their ends', () => {
    const first = update(SEALED, { 60: '<< >>' });
    const updates = updatesOf(update(first, { 61: '<< >>' }));
    const [end, next] = [first.length - 1, first.length];
    expect(updates[0]).toMatchObject({ end, next });
    expect(updates).toHaveLength(2);
  });

  it('are refused with each deviation from the grammar', () => {
    const first = update(SEALED, { 60: '<< >>' });
    const accepted = Object.entries(DEVIATIONS).filter(
      ([, deviation]) => !isRefused(update(first, { 61: '<< >>' }, deviation(first))),
    );
    expect(accepted.map(([name]) => name)).toEqual([]);
  });

  it('are refused with each irregular stream', () => {
    // It is regular, and refused for what it replaces.
    const { 'a page in the stream': regular, ...irregular } = STREAMS;
    const accepted = Object.entries(irregular).filter(([, forge]) => !isRefused(forge(SEALED)));
    expect(accepted.map(([name]) => name)).toEqual([]);
    expect(regular && isRefused(regular(SEALED))).toBe(false);
  });

  it.each<[string, Buffer, number?]>([
    ['only white space', Buffer.concat([SEALED, Buffer.from('\n\n')])],
    [
      'bytes after the last line of the sealed part',
      update(Buffer.concat([SEALED, Buffer.from('% x')]), { 60: '<< >>' }, { lead: '\n' }),
      SEALED.length + 3,
    ],
    ['no line end after the sealed part', update(SEALED.subarray(0, -1), { 60: '<< >>' }), SEALED.length - 1],
    ['an object twice', update(SEALED, { 60: '<< >>' }, { between: '60 0 obj\n<< >>\nendobj\n' })],
    ['a table after a cross-reference stream', update(SEALED, { 60: stream('x', '/Type /XRef') })],
    ['the keys of a stream in a trailer', update(SEALED, { 60: '<< >>' }, { trailer: '/W [1 4 2]' })],
    ['an identifier of one part', update(SEALED, { 60: '<< >>' }, { trailer: '/ID [<00>]' })],
    ['an identifier of three parts', update(SEALED, { 60: '<< >>' }, { trailer: '/ID [<00> <01> <02>]' })],
    ['an identifier that is not a list', update(SEALED, { 60: '<< >>' }, { trailer: '/ID <00>' })],
    ['an object inside a string', update(SEALED, { 60: '(4 0 obj)' })],
    ['a stream without a length', update(SEALED, { 60: '<< >>\nstream\nx\nendstream' })],
    [
      'a stream that is longer than the file',
      update(SEALED, { 60: '<< /Length 9999 >>\nstream\nx\nendstream' }),
    ],
    ['a stream that ends too early', update(SEALED, { 60: '<< /Length 1 >>\nstream\nxy\nendstream' })],
    ['an incomplete object', update(SEALED, { 60: '<< /A' })],
    [
      'an object that is also in a stream',
      streamUpdate(SEALED, { 60: '<< >>' }, { packed: pack([[60, '<< >>']]) }),
    ],
    [
      'a table of fewer objects than it has',
      update(SEALED, { 60: '<< >>' }, { entries: '70 2\n0000000009 00000 n \n' }),
    ],
  ])('are refused with %s', (_, pdf, sealedEnd) => {
    expect(isRefused(pdf, sealedEnd)).toBe(true);
  });
});
