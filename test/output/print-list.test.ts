import { describe, expect, it } from 'vitest';
import type { Envelope } from '../../src/api/schemas.ts';
import { resultList } from '../../src/bulk/commands/row-text.ts';
import { envelopeList } from '../../src/envelopes/commands/list-table.ts';
import { type ListFormat, type ListView, writeList } from '../../src/output/print-list.ts';
import type { Terminal } from '../../src/output/terminal.ts';
import { widthOf } from '../../src/output/text.ts';
import type { RowResult } from '../../src/runs/results.ts';

const now = Date.UTC(2026, 0, 10);
const envelope = (id: string, name: string, status = 'SENT'): Envelope => ({
  id,
  status,
  templateName: name,
  signers: [
    { email: 'ada@example.com', name: 'Ada', status: 'SIGNED' },
    { email: 'li@example.com', name: '李小龍', status: 'SENT' },
  ],
  createdAt: '2026-01-07T00:00:00Z',
  expiresAt: '2026-02-06T00:00:00Z',
  extra: 1,
});
const items = [
  envelope('env_085994b08deaa0744d20', 'Residential lease'),
  envelope('env_2', '\u001b[31mEvil\u0007 <b>\n'),
  envelope('env_3', '契約書 '.repeat(20), 'ARCHIVING'),
];

const view = envelopeList(() => now);

const write = (format: ListFormat, columns?: number) => writeRows(items, view, format, columns);

async function writeRows<T>(
  rows: readonly T[],
  shown: ListView<T>,
  format: ListFormat,
  columns = Number.POSITIVE_INFINITY,
): Promise<string> {
  let written = '';
  const terminal: Terminal = {
    outIsTty: Number.isFinite(columns),
    errIsTty: false,
    still: false,
    canAsk: false,
    canAskPastStdin: false,
    columns,
    out: (text) => {
      written += String(text);
      return Promise.resolve();
    },
    err: () => undefined,
    style: (_, text) => text,
    styleErr: (_, text) => text,
  };
  await writeList(rows, shown, format, terminal);
  return written;
}

describe('a list', () => {
  it.each([60, 80, 120])('is a table that fits in %i columns, with complete IDs', async (columns) => {
    const table = await write({}, columns);
    await expect(table).toMatchFileSnapshot(`golden/envelopes-${columns}.txt`);
    for (const line of table.split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(columns);
    for (const { id } of items) expect(table).toContain(id);
    expect(table).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  });

  it('is tab-separated in a pipe: no header, exact times, nothing truncated', async () => {
    const lines = (await write({})).trimEnd().split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[0]?.split('\t')).toEqual([
      'env_085994b08deaa0744d20',
      'SENT',
      'Residential lease',
      'ada@example.com,li@example.com',
      '2026-01-07T00:00:00Z',
      '2026-02-06T00:00:00Z',
    ]);
    expect(lines[2]).toContain('契約書 '.repeat(20).trim());
  });

  it('is one bare JSON array, each item as received', async () => {
    expect(JSON.parse(await write({ json: true }))).toEqual(items);
    expect(JSON.parse(await write({ json: true, fields: 'id,signers.1.name,nope' }))).toContainEqual({
      id: 'env_085994b08deaa0744d20',
      'signers.1.name': '李小龍',
      nope: null,
    });
  });

  it('is CSV with a header, and no cell that a spreadsheet would evaluate', async () => {
    const csv = await write({ csv: true, fields: 'id,templateName' });
    expect(csv.split('\n').slice(0, 2)).toEqual([
      'id,templateName',
      'env_085994b08deaa0744d20,Residential lease',
    ]);
  });

  it('contains only IDs with -q', async () => {
    expect(await write({ quiet: true })).toBe('env_085994b08deaa0744d20\nenv_2\nenv_3\n');
  });

  it('refuses an empty field name', async () => {
    await expect(write({ fields: 'id,,x' })).rejects.toMatchObject({ code: 'USAGE' });
  });
});

describe('untrusted text in a list', () => {
  const hostile = '\u001b]52;c;ZXZpbA==\u0007\u009b2J\u202egpj.exe\u2066\u200b\ufeff\u{e0041}';
  const forms: ListFormat[] = [
    {},
    { csv: true },
    { quiet: true },
    { json: true },
    { fields: 'row,error' },
    { csv: true, fields: 'error' },
  ];
  const acting = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
  const evil = { ...envelope(hostile, hostile, hostile), error: hostile };
  const result: RowResult = {
    run: 'run-1',
    row: 1,
    line: 2,
    requestId: hostile,
    ok: false,
    envelopeId: hostile,
    status: hostile,
    error: { code: hostile, message: hostile, status: 400, details: { [hostile]: [hostile] } },
  };

  it.each(forms)("doesn't affect a terminal as %j", async (format) => {
    for (const columns of [80, Number.POSITIVE_INFINITY]) {
      expect(await writeRows([evil], view, format, columns)).not.toMatch(acting);
      expect(await writeRows([result], resultList, format, columns)).not.toMatch(acting);
    }
  });

  it('keeps line breaks and tabs in CSV, and escapes cells that a spreadsheet would evaluate', async () => {
    const notes = ['a\tb\nc', ' =1+1'].map((note) => ({ ...evil, note }));
    expect(await writeRows(notes, view, { csv: true, fields: 'note' })).toBe('note\n"a\tb\nc"\n\' =1+1\n');
  });
});
