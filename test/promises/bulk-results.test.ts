import { readFile, writeFile } from 'node:fs/promises';
import { createSinglebyteEncoder } from '@exodus/bytes/single-byte.js';
import { parse } from 'csv-parse/sync';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { isRecord } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { Home, jsonLines, linesOf, reportedError } from '../support/cli.ts';
import { openCommand } from '../support/pty.ts';
import { keyRevokedAfter, type Relay, refuses, relayedSandbox } from '../support/relay.ts';
import { xlsxOf } from '../support/xlsx.ts';
import { readSheet } from '../tables/read-sheet.ts';

const home = new Home();
const elsewhere = { ESIGN_STATE_DIR: home.pathLater('elsewhere') };
let relay: Relay;
beforeAll(async () => {
  relay = await relayedSandbox(home);
});
beforeEach(() => relay.reset());

/** Sends a list; returns its run and the envelopes in the order of the rows. */
async function sent(text: string | Uint8Array, ...flags: string[]) {
  await writeFile(home.path('list.csv'), text);
  const { stdout } = await home.run(argv`bulk create list.csv --send --yes --again --json ${flags}`);
  const rows = jsonLines(stdout)
    .filter(isRecord)
    .toSorted((a, b) => Number(a.row) - Number(b.row));
  return { run: String(rows[0]?.run), ids: rows.map(({ envelopeId }) => String(envelopeId)) };
}
const people = (...names: string[]) =>
  `email,name\n${names.map((name) => `${name.toLowerCase()}@example.com,${name}\n`).join('')}`;
async function status(words: readonly string[], env: Record<string, string> = {}) {
  const value = await home.json(['bulk', 'status', ...words], { env });
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
const statesOf = (lines: readonly Record<string, unknown>[]) =>
  lines.map(({ row, email, state }) => [row, email, state]);

describe('bulk status', () => {
  it('shows each signer, whose turn it is, and how each envelope ended, also without the journal', async () => {
    const pair = (n: number) => `a${n}@example.com,A${n},1,b${n}@example.com,B${n},2,SEQUENTIAL\n`;
    const header =
      'signer1_email,signer1_name,signer1_order,signer2_email,signer2_name,signer2_order,signing_order\n';
    const list = header + [1, 2, 3, 4, 5].map(pair).join('');
    const { run, ids } = await sent(list, ...argv`--template tmpl_lease --allow-missing-roles`);
    const [one = '', two = '', three = '', four = ''] = ids;
    await home.run`sandbox sign ${one} --signer a1@example.com`;
    await home.run`sandbox sign ${one} --signer b1@example.com`;
    await home.run`sandbox sign ${two} --signer a2@example.com`;
    await home.run`sandbox decline ${three} --signer a3@example.com --reason ${'salary is wrong'}`;
    await home.run`envelopes cancel ${four}`;
    const lines = await status([run]);
    expect(statesOf(lines)).toEqual([
      [1, 'a1@example.com', 'signed'],
      [1, 'b1@example.com', 'signed'],
      [2, 'a2@example.com', 'signed'],
      [2, 'b2@example.com', 'waiting'],
      [3, 'a3@example.com', 'declined'],
      [3, 'b3@example.com', 'later'],
      [4, 'a4@example.com', 'cancelled'],
      [4, 'b4@example.com', 'cancelled'],
      [5, 'a5@example.com', 'waiting'],
      [5, 'b5@example.com', 'later'],
    ]);
    expect(lines[3]).toMatchObject({
      requestId: `${run}-2`,
      envelopeId: two,
      envelopeStatus: 'IN_PROGRESS',
      name: 'B2',
      waitingSince: lines[2]?.signedAt,
      signedAt: null,
      error: null,
    });
    expect(lines[4]?.error).toMatchObject({ message: 'salary is wrong' });
    expect(lines.map(({ line }) => line)).toEqual([2, 2, 3, 3, 4, 4, 5, 5, 6, 6]);
    expect(await status(argv`${run} --only waiting,later`)).toHaveLength(4);
    expect(linesOf((await home.run`bulk status ${run} --only signed -q`).stdout)).toEqual([one, two]);
    const csv = await home.run`bulk status --only cancelled --csv --fields row,email`;
    expect(linesOf(csv.stdout)).toEqual(['row,email', '4,a4@example.com', '4,b4@example.com']);
    expect(await status([run], { ...elsewhere, ESIGN_NO_INDEX: '1' })).toMatchObject(
      lines.map(({ row, email, state }) => ({ row, email, state })),
    );
  });

  it('requests no ended envelope twice', async () => {
    const { run, ids } = await sent(people('C1', 'C2', 'C3', 'C4', 'C5'), '--template', 'tmpl_nda');
    for (const id of ids.slice(0, 4)) await home.run`sandbox sign ${id}`;
    await status([run]);
    relay.seen.length = 0;
    expect(await status([run])).toHaveLength(5);
    expect(relay.seen.length).toBeLessThanOrEqual(2);
  });

  it('shows refused rows and rows that are not created yet', async () => {
    await writeFile(home.path('list.csv'), people('D1', 'D2', 'D3'));
    const revoked = keyRevokedAfter(2);
    const refused = refuses('d2@');
    relay.intervene = (request) => refused(request) ?? revoked(request);
    await home.run`bulk create list.csv --template tmpl_nda --send --yes --again`;
    relay.intervene = () => undefined;
    const lines = await status([]);
    expect(lines.map(({ state }) => state)).toContain('failed');
    expect(lines.find(({ state }) => state === 'failed')).toMatchObject({
      row: 2,
      email: 'd2@example.com',
      envelopeId: null,
      error: { code: 'VALIDATION_ERROR' },
    });
  });

  it('counts the envelope of a repeated row once', async () => {
    await writeFile(home.path('list.csv'), people('Uma', 'Uma'));
    await home.run`bulk create list.csv --template tmpl_nda --send --yes`;
    const screen = openCommand(home, ['bulk', 'status']);
    await screen.ended;
    expect(screen.text()).toMatch(/Waiting longest\n.*\n2 +Uma +\d/);
  });

  it('counts a repeated row apart from those that were sent, and breaks no line inside a word', async () => {
    await writeFile(home.path('list.csv'), people('Ida', 'Ida', 'Jon'));
    const run = openCommand(
      home,
      argv`bulk create ${home.path('list.csv')} --template tmpl_nda --send --yes --first 1`,
    );
    await run.ended;
    expect(run.text()).toContain('1 envelope sent, 1 row repeated, 1 remaining.');
    expect(Math.max(...run.written().map((line) => line.length))).toBeLessThanOrEqual(80);
    const screen = openCommand(home, ['bulk', 'status']);
    await screen.ended;
    expect(screen.text()).toContain('1 of 3 sent, 1 repeated, 1 not started.');
    await home.run`envelopes cancel --run last --yes`;
  });

  it('shows the whole reason of a decline, and of several as much as fits on the screen', async () => {
    const names = ['Ki', 'Lu', 'Mo', 'Ny'];
    const reason = `Paragraph 4 is ${'not acceptable to me as long as my lawyer has not seen it, '.repeat(7)}sorry.`;
    const { ids } = await sent(people(...names), '--template', 'tmpl_nda');
    const screenOf = async (...words: string[]) => {
      const screen = openCommand(home, ['bulk', 'status', ...words]);
      await screen.ended;
      return screen.text();
    };
    await home.run`sandbox decline ${ids[0] ?? ''} --reason ${reason}`;
    const one = await screenOf();
    expect(one.replaceAll(/\s+/g, ' ')).toContain(reason);
    for (const id of ids.slice(1)) await home.run`sandbox decline ${id} --reason ${reason}`;
    const all = await screenOf();
    expect(all.match(/\n {2}Paragraph 4/g)).toHaveLength(4);
    expect(all).toContain('Whole reasons  esign bulk status --only declined,failed');
    // One row is left for the next prompt.
    for (const text of [one, all]) expect(text.split('\n').length).toBeLessThanOrEqual(23);
    expect((await screenOf('--only', 'declined')).match(/sorry\./g)).toHaveLength(4);
  });

  it('shows a replaced envelope, and the signers of the new one', async () => {
    const { run, ids } = await sent(people('E1', 'E2'), '--template', 'tmpl_nda');
    const change = 'e2@example.com=New <new@example.com>';
    const replaced = await home.object(argv`envelopes replace ${ids[1] ?? ''} --signer ${change} --yes`);
    const made = isRecord(replaced.new) ? replaced.new.id : undefined;
    for (const env of [{}, { ...elsewhere, ESIGN_NO_INDEX: '1' }]) {
      const lines = await status([run], env);
      expect(statesOf(lines)).toEqual([
        [1, 'e1@example.com', 'waiting'],
        [2, 'e2@example.com', 'replaced'],
        [2, 'new@example.com', 'waiting'],
      ]);
      expect(lines[2]).toMatchObject({ envelopeId: made });
    }
    const listed = await home.run(argv`envelopes list --run ${run} -q --all`);
    expect(linesOf(listed.stdout).toSorted()).toEqual([...ids, String(made)].toSorted());
  });

  it('refuses a state and a run that do not exist', async () => {
    const wrong = await home.run`bulk status --only wating --json`;
    expect([wrong.code, reportedError(wrong).hint]).toEqual([2, expect.stringContaining('waiting')]);
    for (const words of ['status', 'export', 'resume'].map((word) => ['bulk', word, 'run-20200101-0-a'])) {
      const unknown = await home.run([...words, '--json']);
      expect([words, unknown.code, reportedError(unknown)]).toMatchObject([
        words,
        4,
        { code: 'NOT_FOUND', run: 'run-20200101-0-a' },
      ]);
    }
    for (const words of [argv`envelopes list`, argv`late`, argv`find a`])
      expect(await home.json([...words, '--run', 'run-20200101-0-a'])).toEqual([]);
  });
});

describe('bulk list', () => {
  it('lists the runs on this machine, newest first', async () => {
    const { run } = await sent(people('L1'), '--template', 'tmpl_nda');
    const next = await sent(people('L2'), '--template', 'tmpl_nda');
    const ids = linesOf((await home.run`bulk list -q -L 2`).stdout);
    expect(ids).toEqual([next.run, run]);
    const createdAt = expect.stringMatching(/^20\d\d-/) as unknown;
    const counts = { total: 1, done: 1, failed: 0 };
    expect(await home.json`bulk list -L 1`).toEqual([
      { id: next.run, file: 'list.csv', createdAt, state: 'finished', ...counts, continuedBy: null },
    ]);
  });
});

const table = (text: string, delimiter = ','): Record<string, string>[] =>
  parse(text, { columns: true, bom: true, delimiter });

describe('bulk export', () => {
  it('adds the state of each row to the source file, wherever the row is now', async () => {
    const encode = (text: string) => createSinglebyteEncoder('windows-1252')(text);
    const header = 'email;name';
    const rows = ['ada@example.com;Ada', 'zoe@example.com;"Zoë; Z"', 'bo@example.com;Bo'];
    const lines = (...cells: string[]) => encode(cells.map((cell) => `${cell}\r\n`).join(''));
    const { ids } = await sent(lines(header, ...rows), ...argv`--template tmpl_nda --encoding windows-1252`);
    await home.run`sandbox sign ${ids[0] ?? ''}`;
    await home.run`sandbox decline ${ids[1] ?? ''} --reason no`;
    const [ada, zoe, bo] = rows;
    const moved = [`${bo};Größe`, `${zoe};`, 'new@example.com;New;x', `${ada};`];
    await writeFile(home.path('list.csv'), lines(`${header};Notiz`, ...moved));
    const { code, stdout, stderr } = await home.run`bulk export --into list.csv`;
    expect([code, stderr]).toEqual([10, expect.stringContaining('1 row in list.csv')]);
    expect(stderr).toContain(': line 4.');
    const columns = table(stdout, ';').map((row) => [row.esign_row_status, row.esign_envelope_id]);
    expect(columns).toEqual([
      ['waiting', ids[2]],
      ['declined', ids[1]],
      ['', ''],
      ['signed', ids[0]],
    ]);
    expect(table(stdout, ';')[3]?.esign_signed_at).toMatch(/^20\d\d-/);
    expect(table(stdout, ';')[0]?.esign_waiting_for).toBe('Bo');
    expect(table(stdout, ';')[1]).toMatchObject({
      name: 'Zoë; Z',
      esign_error: expect.stringContaining('no') as unknown,
    });
    expect(stdout.startsWith(`${header};Notiz;esign_row_status;`)).toBe(true);
  });

  it('keeps only rows without an envelope with --failed, which can be sent once they are fixed', async () => {
    relay.intervene = refuses('f2@');
    await sent(people('F1', 'F2'), '--template', 'tmpl_nda');
    relay.intervene = () => undefined;
    expect((await home.run`bulk export --into list.csv --failed -o fixed.csv`).code).toBe(0);
    const failed = table(await readFile(home.path('fixed.csv'), 'utf8'));
    expect(failed).toMatchObject([{ email: 'f2@example.com', esign_row_status: 'failed' }]);
    expect(failed[0]?.esign_error).toContain('VALIDATION_ERROR');
    expect(await home.json`bulk export --failed`).toMatchObject([
      { row: 2, error: { code: 'VALIDATION_ERROR' } },
    ]);
    expect((await home.run`bulk create fixed.csv --template tmpl_nda --send --yes`).code).toBe(0);
    expect(await relay.emails()).toEqual({ 'f1@example.com': 1, 'f2@example.com': 1 });
  });

  it('returns a sheet as a workbook, or as CSV, which has a byte order mark only in a file', async () => {
    const rows = [
      ['E-Mail', 'Name', 'Vorname', 'meta.iban', 'Ort'],
      ['zoe@example.com', 'Zoë', '', '0012', '=1+1'],
    ];
    const book = xlsxOf({ sheets: { People: rows } });
    await writeFile(home.path('s.xlsx'), book);
    await home.run`bulk create s.xlsx --template tmpl_nda --send --yes`;
    const { code, stdout } = await home.run`bulk export --into s.xlsx`;
    expect([code, stdout.charCodeAt(0)]).toEqual([0, 'E'.charCodeAt(0)]);
    expect(table(stdout)).toMatchObject([{ Name: 'Zoë', 'meta.iban': '0012', esign_row_status: 'waiting' }]);
    await home.run`bulk export --into s.xlsx -o out.csv`;
    expect(await readFile(home.path('out.csv'), 'utf8')).toBe(`\ufeff${stdout}`);
    await home.run`bulk export --into s.xlsx -o out.xlsx`;
    const written = await readSheet(await readFile(home.path('out.xlsx')));
    expect(written.rows[0]?.slice(0, 6)).toEqual([...(rows[0] ?? []), 'esign_row_status']);
    expect(written.rows[1]?.slice(0, 6)).toEqual([...(rows[1] ?? []), 'waiting']);
    // The results are recognized in the file that was written, and are not sent.
    expect((await home.run`bulk export --into out.xlsx`).stdout).toBe(stdout);
  });

  it('shows the replacement of a corrected envelope', async () => {
    const { ids } = await sent(people('R1'), '--template', 'tmpl_nda');
    const replaced = await home.json(
      argv`envelopes replace ${ids[0] ?? ''} --signer ${'r1@example.com=Rita <rita@example.com>'} --yes`,
    );
    const { id } = z.object({ new: z.object({ id: z.string() }) }).parse(replaced).new;
    const { stdout } = await home.run`bulk export --into list.csv`;
    expect(table(stdout)).toMatchObject([
      {
        email: 'r1@example.com',
        esign_row_status: 'waiting',
        esign_envelope_id: id,
        esign_waiting_for: 'Rita',
      },
    ]);
  });

  it('never replaces the source file, and writes nothing for another run', async () => {
    await sent(people('W1'), '--template', 'tmpl_nda');
    const before = await readFile(home.path('list.csv'));
    const own = await home.run`bulk export --into list.csv -o ./list.csv --force`;
    expect([own.code, own.stderr]).toEqual([2, expect.stringContaining('is your source file')]);
    expect(await readFile(home.path('list.csv'))).toEqual(before);
    await writeFile(home.path('other.csv'), people('X1', 'X2'));
    const other = await home.run`bulk export --into other.csv -o none.csv`;
    expect([other.code, other.stderr]).toEqual([10, expect.stringContaining('none.csv was not written')]);
    await expect(readFile(home.path('none.csv'))).rejects.toThrow('ENOENT');
  });
});

describe('bulk roster', () => {
  it('shows who on a list has signed, and returns the rows of those who are missing', async () => {
    const created = async (email: string) =>
      (await home.run`envelopes create --template tmpl_nda --signer ${email} -q --send`).stdout.trim();
    const signed = await created('ada@example.com');
    await home.run`sandbox sign ${signed}`;
    const open = await created('bo@example.com');
    const declined = await created('cy@example.com');
    await home.run`sandbox decline ${declined} --reason no`;
    await home.run`envelopes create --template tmpl_nda --signer dan@example.com`;
    await writeFile(
      home.path('all.csv'),
      'email;name\r\nADA@example.com;"Ada"\r\nbo@example.com;Bo\r\ncy@example.com;Cy\r\ndan@example.com;Dan\r\n',
    );
    expect(await home.json`bulk roster all.csv --template tmpl_nda`).toMatchObject([
      { row: 1, email: 'ADA@example.com', state: 'signed', envelopeId: signed },
      { row: 2, state: 'waiting', envelopeId: open, signedAt: null },
      { row: 3, state: 'declined', envelopeId: declined },
      { row: 4, state: 'never', envelopeId: null },
    ]);
    const missing = await home.run`bulk roster all.csv --template tmpl_nda --missing`;
    expect(table(missing.stdout, ';').map(({ email }) => email)).toEqual(['dan@example.com']);
    const words = argv`bulk create - --template tmpl_nda --send --yes --json`;
    expect((await home.run(words, { input: missing.stdout })).code).toBe(0);
    const none = await home.run`bulk roster all.csv --template tmpl_nda --missing`;
    // Nobody is missing: an empty list is not an error, unlike a command that failed and printed nothing.
    const nobody = await home.run(words, { input: 'email\n' });
    expect([none.code, nobody.code, nobody.stdout]).toEqual([0, 0, '']);
    expect((await home.run(words, { input: '' })).code).toBe(2);
  });

  it('counts a row for its own template, and a replaced signer as the replacement', async () => {
    await home.run`sandbox reset --yes`;
    const created = async (template: string, email: string) =>
      (await home.run`envelopes create --template ${template} --signer ${email} -q --send`).stdout.trim();
    await home.run`sandbox sign ${await created('tmpl_intake', 'ina@example.com')}`;
    await home.run`sandbox sign ${await created('tmpl_nda', 'ina@example.com')}`;
    const wrong = await created('tmpl_nda', 'wrong@example.com');
    await home.run(argv`envelopes replace ${wrong} --signer ${'wrong@example.com=right@example.com'} --yes`);
    const rows = [
      'ina@example.com,Ina,tmpl_intake',
      'ina@example.com,Ina,',
      'uli@example.com,Uli,tmpl_intake',
      'wrong@example.com,Wanda,',
    ];
    await writeFile(home.path('mixed.csv'), `E-Mail,Name,Template ID\n${rows.join('\n')}\n`);
    const words = argv`bulk roster mixed.csv --template tmpl_nda`;
    expect(await home.json(words)).toMatchObject([
      { templateId: 'tmpl_intake', state: 'signed' },
      { templateId: 'tmpl_nda', state: 'signed' },
      { templateId: 'tmpl_intake', state: 'never' },
      { templateId: 'tmpl_nda', state: 'waiting', replacedBy: 'right@example.com' },
    ]);
    const { stdout } = await home.run([...words, '--missing']);
    expect(linesOf(stdout).slice(1)).toEqual(['uli@example.com,Uli,tmpl_intake\r']);
    await writeFile(home.path('bare.csv'), 'email\na@example.com\n');
    expect((await home.run`bulk roster bare.csv`).code).toBe(2);
  });
});
