import { createMultibyteEncoder } from '@exodus/bytes/multi-byte.js';
import { createSinglebyteEncoder } from '@exodus/bytes/single-byte.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type IntoCells, NO_RESULT } from '../../src/bulk/rewrite/result-columns.ts';
import { openRewritable } from '../../src/bulk/rewrite/source-file.ts';
import { valueAt } from '../../src/kernel/json.ts';
import type { ReadOptions } from '../../src/tables/table-file.ts';
import { xlsxOf } from '../support/xlsx.ts';

const SIGNED: IntoCells = { ...NO_RESULT, esign_row_status: 'signed', esign_waiting_for: 'Zoë; Bo' };

/** The file as it is, and with results, read in chunks of `piece` bytes. */
async function rewrite(bytes: Buffer, options: ReadOptions = {}, results = SIGNED, piece = 3) {
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += piece)
      yield await Promise.resolve(bytes.subarray(at, at + piece));
  }
  const file = await openRewritable({ name: 'f', bytes: pieces() }, { ...options, delimiter: ';' });
  const same: Buffer[] = [];
  const withResults: Buffer[] = [];
  const rows: unknown[] = [];
  for await (const part of file.parts) {
    same.push(part.bytes());
    withResults.push(part.bytesWith(results));
    if (part.row !== undefined) rows.push(valueAt(part.row.value, 'signers.0.name'));
  }
  return { same: Buffer.concat(same), out: Buffer.concat(withResults), rows, replaced: file.replaced() };
}
const NAMES = 'esign_row_status;esign_envelope_id;esign_signed_at;esign_waiting_for;esign_error';
const CELLS = 'signed;;;"Zoë; Bo";';

describe('a CSV file with results', () => {
  const text = (names = `;${NAMES}`, cells = `;${CELLS}`) =>
    [
      'sep=;\r\n',
      `email ;"name";Notes;${names.slice(1) || ''}`.replace(/;$/, '') + '\r\n',
      `a@b.c;"Zoë ""Z""\r\nMüller"; kept;${cells.slice(1)}`.replace(/;$/, '') + '\n',
      '\r\n',
      `"b@b.c";Bo;"";${cells.slice(1)}`.replace(/;$/, ''),
    ].join('');
  const before = text('', '');
  it.each([
    ['utf-8', (content: string) => Buffer.from(content), {}],
    ['utf-8 with a mark', (content: string) => Buffer.from(`\ufeff${content}`), {}],
    ['utf-16le', (content: string) => Buffer.from(`\ufeff${content}`, 'utf16le'), {}],
    ['utf-16be', (content: string) => Buffer.from(`\ufeff${content}`, 'utf16le').swap16(), {}],
    [
      'windows-1252',
      (content: string) => Buffer.from(createSinglebyteEncoder('windows-1252')(content)),
      { encoding: 'latin1' },
    ],
  ])('differs only in the new cells, with %s', async (_, encode, options) => {
    const { same, out, rows } = await rewrite(encode(before), options);
    expect(same.equals(encode(before))).toBe(true);
    const expected = before
      .replace('Notes\r\n', `Notes;${NAMES}\r\n`)
      .replace(' kept\n', ` kept;${CELLS}\n`)
      .replace(/""$/, `"";${CELLS}`);
    expect(out.toString('latin1')).toBe(encode(expected).toString('latin1'));
    expect(rows).toEqual(['Zoë "Z"\nMüller', 'Bo']);
  });

  it('replaces existing result columns in place, and appends missing ones', async () => {
    const file = 'ESIGN_ERROR,email,esign_row_status,x\n"old, old",a@b.c,draft,1\n,b@b.c,,2,,\n';
    const { out } = await rewrite(
      Buffer.from(file),
      {},
      { ...NO_RESULT, esign_row_status: 'failed', esign_error: '=1+1, x' },
    );
    expect(out.toString()).toBe(
      'ESIGN_ERROR,email,esign_row_status,x,esign_envelope_id,esign_signed_at,esign_waiting_for\n' +
        '"\'=1+1, x",a@b.c,failed,1,,,\n"\'=1+1, x",b@b.c,failed,2,,,,,\n',
    );
  });

  it('can have only carriage returns after the line that names the delimiter', async () => {
    const { out, rows } = await rewrite(Buffer.from('sep=;\remail;name\ra@b.c;Bo\r'));
    expect(out.toString()).toBe(`sep=;\remail;name;${NAMES}\ra@b.c;Bo;${CELLS}\r`);
    expect(rows).toEqual(['Bo']);
  });

  it('replaces characters that its encoding lacks with the closest ones', async () => {
    const encode = createSinglebyteEncoder('windows-1252');
    const { out, replaced } = await rewrite(
      Buffer.from(encode('email\na@b.c\n')),
      { encoding: 'cp1252' },
      { ...NO_RESULT, esign_waiting_for: 'Řehoř 日 Zoë' },
    );
    expect(out.toString('latin1')).toContain('Rehor ? Zo\xeb');
    expect(replaced).toBe(3);
  });

  it('is unchanged in Shift_JIS, whose characters contain ASCII bytes', async () => {
    const bytes = Buffer.from(createMultibyteEncoder('shift_jis')('email,name\na@b.c,表示ソ\n'));
    const { same, rows } = await rewrite(bytes, { encoding: 'sjis' });
    expect([same.equals(bytes), rows]).toEqual([true, ['表示ソ']]);
    await expect(rewrite(bytes, { encoding: 'iso-2022-jp' })).rejects.toThrow('iso-2022-jp');
  });

  it('is unchanged without results, for any content', async () => {
    const cell = fc.oneof(
      fc.constantFrom('', ' ', 'é', 'a', '日', '\u{1f600}'),
      fc.constantFrom('"a""b"', '"x\ny"', '"\r\n,"'),
    );
    const lines = fc.array(fc.tuple(fc.array(cell, { maxLength: 4 }), fc.constantFrom('\n', '\r\n', '\r')), {
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(lines, fc.integer({ min: 1, max: 9 }), async (all, piece) => {
        const bytes = Buffer.from(`email,name\n${all.map(([cells, end]) => cells.join(',') + end).join('')}`);
        expect((await rewrite(bytes, {}, SIGNED, piece)).same.toString()).toBe(bytes.toString());
      }),
      { numRuns: 60 },
    );
  });
});

it('adds the fields to each object of a JSON Lines file, and replaces existing ones', async () => {
  const lines = [
    '{ "signers": [{"email":"a@b.c","name":"Zoë"}] , "note": {"esign_error": 1} }\r\n',
    '\n',
    '{"esign_row_status" : [1, {"a":2}], "signers":[]}\n',
    '{}',
  ];
  const { same, out } = await rewrite(Buffer.from(`\ufeff${lines.join('')}`));
  expect(same.toString()).toBe(`\ufeff${lines.join('')}`);
  const added =
    '"esign_envelope_id":null,"esign_signed_at":null,"esign_waiting_for":"Zo\\u00eb; Bo","esign_error":null';
  const [first = '', second = '', third = ''] = lines.filter((line) => line !== '\n');
  expect(out.toString()).toBe(
    [
      `\ufeff${first.replace('}\r\n', `,"esign_row_status":"signed",${added}}\r\n`)}`,
      '\n',
      second.replace('[1, {"a":2}]', '"signed"').replace('}\n', `,${added}}\n`),
      third.replace('}', `"esign_row_status":"signed",${added}}`),
    ].join(''),
  );
});

it('writes a sheet as CSV that spreadsheet programs on Windows open', async () => {
  const { out } = await rewrite(
    xlsxOf({
      sheets: {
        A: [
          ['email', 'name', 'Notes'],
          ['a@b.c', 'Zoë; "Z"', ''],
        ],
      },
    }),
  );
  expect(out.toString()).toBe(`\ufeffemail;name;Notes;${NAMES}\r\na@b.c;"Zoë; ""Z""";;${CELLS}\r\n`);
});
