import { writeFile } from 'node:fs/promises';
import { createSinglebyteEncoder } from '@exodus/bytes/single-byte.js';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { Home, jsonLines, linesOf, reportedError } from '../support/cli.ts';
import { answerPage, fakeService } from '../support/fake-service.ts';
import { openCommand } from '../support/pty.ts';
import { json } from '../support/server.ts';
import { xlsxOf } from '../support/xlsx.ts';

const home = new Home();
beforeAll(() => home.sandbox(['--rate-limit', '1000000/15m']));
beforeEach(async () => {
  await home.run`sandbox reset --yes`;
});

const given = (name: string, content: string | Uint8Array) => writeFile(home.path(name), content);
const envelopes = () => home.json`envelopes list --all`;

/** The problems in the error of a run, one line each: `FILE:LINE COLUMN: TEXT`. */
function problemsOf(run: Parameters<typeof reportedError>[0]): string {
  const { details } = reportedError(run);
  return Object.entries(isRecord(details) ? details : {})
    .map(([place, texts]) => `${place}: ${String(texts)}\n`)
    .join('');
}

describe('a file with problems', () => {
  it.each([
    ['an invalid address', 'email,message\na@b.c,"two\nlines"\nbad,x\n', /rows\.csv:4 email: "bad"/],
    ['no rows', 'email,name\n', /rows\.csv:1: the file has no rows/],
    ['nothing at all', '', /rows\.csv:1: the file has no rows/],
    [
      'an unknown template',
      'email,template_id\na@b.c,tmpl_missing\n',
      /rows\.csv:2 template_id: .*tmpl_missing/,
    ],
  ])('is refused before anything is sent: %s', async (_, text, problem) => {
    await given('rows.csv', text);
    const run = await home.run`bulk create rows.csv --template tmpl_nda --send --yes --json`;
    expect([run.code, run.stdout]).toEqual([2, '']);
    expect(problemsOf(run)).toMatch(problem);
    expect(await envelopes()).toEqual([]);
  });

  describe('of many kinds', () => {
    // Every row lacks a template, and many have an invalid address. A duplicate is sent once.
    const rows = Array.from({ length: 300 }, (_, n) => (n % 3 === 0 ? `bad${n}` : `p${n}@example.com`));
    rows[8] = 'p7@example.com';
    rows[10] = 'ann@gmial.com';
    const list = `email\n${rows.join('\n')}\n`;

    it('shows all of them in a pipe and in JSON, and says once what is the same', async () => {
      await given('rows.csv', list);
      const { stderr, stdout, code } = await home.run`bulk create rows.csv`;
      expect(stderr).toMatch(/^LINE {2}COLUMN {7}PROBLEM\n {3}2 {2}template_id .* \(every row\)\n/);
      expect(linesOf(stderr).filter((line) => /^ +\d+ {2}email .*"bad/.test(line))).toHaveLength(100);
      expect(stderr).toMatch(/^ {2}12 .*gmial/m);
      expect(stderr).toContain('\nError: 101 problems in rows.csv (300 rows). Nothing was sent.\n');
      expect([code, stdout]).toEqual([2, '']);
      expect(linesOf(problemsOf(await home.run`bulk create rows.csv --json`))).toHaveLength(101);
    });

    it('fits on one screen of a terminal, with an example of each kind and its lines', async () => {
      await given('rows.csv', list);
      const screen = openCommand(home, argv`bulk create ${home.path('rows.csv')}`);
      expect((await screen.ended).code).toBe(2);
      const lines = screen.text().split('\n');
      expect(lines.length).toBeLessThanOrEqual(23);
      expect(lines[0]).toMatch(/^LINE {2}COLUMN/);
      const text = lines.map((line) => line.trim()).join(' ');
      expect(text).toMatch(/"bad0" is not .* \(100 rows: 2, 5, 8, 11, 14, …\)/);
      for (const part of ['(every row)', 'gmial', '2> problems.txt']) expect(text).toContain(part);
    });
  });

  it('is refused for a role that the template lacks, and for a role without a signer', async () => {
    const service = await fakeService((request, response) => {
      const id = request.path.split('/').at(-1) ?? '';
      const roles = id === 'tmpl_lease' ? ['Tenant', 'Landlord'] : undefined;
      if (request.path.includes('/templates/')) return json(response, 200, { data: { id, name: id, roles } });
      return answerPage(request, response, 0, () => null);
    });
    const dryRun = async (text: string, ...flags: string[]) => {
      await given('rows.csv', text);
      return home.run(argv`bulk create rows.csv --dry-run --json ${flags}`, { env: service.env });
    };
    const wrong = await dryRun('email,role,template_id\na@b.c,Tennant,tmpl_lease\nb@b.c,Any,tmpl_nda\n');
    expect(wrong.code).toBe(2);
    expect(problemsOf(wrong)).toMatch(/rows\.csv:2 role: .*"Tennant".*Tenant\?/);
    const missing = 'email,role,template_id\na@b.c,Tenant,tmpl_lease\n';
    expect(problemsOf(await dryRun(missing))).toMatch(/rows\.csv:2: .*Landlord/);
    expect((await dryRun(missing, '--allow-missing-roles')).code).toBe(0);
  });

  it('warns about addresses that are probably mistyped, and names signers without a name', async () => {
    await given('rows.csv', 'email\nada@gmial.com\n');
    const { code, stderr } = await home.run`bulk create rows.csv --template tmpl_nda --yes`;
    expect(code).toBe(0);
    expect(stderr).toMatch(/^ +2 {2}email .*ada@gmial\.com.* gmail\.com\?$/m);
    expect(stderr).toMatch(/1 signer has no name/);
  });
});

it('reports once what every row lacks, and shows all problems in one round', async () => {
  await given('rows.csv', 'email,role\na@b.c,Tennant\nbad,Tenant\nc@b.c,Tenant\n');
  const lines = linesOf(problemsOf(await home.run`bulk create rows.csv --json`));
  expect(lines.filter((line) => line.includes('template'))).toEqual([
    expect.stringMatching(/^rows\.csv:2 template_id: .*\(every row\)$/),
  ]);
  await home.json(argv`envelopes create --template tmpl_nda --signer ${'Eve <e@b.c>'} --request-id used-1`);
  await given(
    'all.csv',
    'emial,role,request_id,expires_in_days\na@b.c,Tennant,,\nbad,Tenant,,\nc@b.c,,used-1,\nd@b.c,,,x\n',
  );
  const all = await home.run(argv`bulk create all.csv --template tmpl_lease --allow-missing-roles`);
  // In the order of the lines: the header, the rows, the template, and the service's envelopes.
  expect(all.stderr.match(/^ +\d+ {2}\w+ /gm)?.map((start) => start.trim())).toEqual([
    '1  emial',
    '2  role',
    '3  emial',
    '4  request_id',
    '5  expires_in_days',
  ]);
});

it('ignores other columns, and shows how to send them or leave them out', async () => {
  await given('rows.csv', 'E-mail,Full name,Comment\nada@example.com,Ada,call first\n');
  const run = await home.run`bulk create rows.csv --template tmpl_nda --json`;
  expect([run.code, jsonLines(run.stderr)]).toEqual([
    0,
    [{ notice: expect.stringMatching(/^Not used: "Comment"\. .*meta\.Comment.*esign_Comment/) as unknown }],
  ]);
  expect(await envelopes()).toMatchObject([{ signers: [{ name: 'Ada', email: 'ada@example.com' }] }]);
});

describe('a spreadsheet', () => {
  it('is read from a named sheet, with subjects filled in', async () => {
    const rows = [
      ['email', 'name', 'meta.account'],
      ['ada@example.com', 'Ada Lovelace', '00491234567890123456'],
    ];
    await given('p.xlsx', xlsxOf({ sheets: { Notes: [['x']], People: rows } }));
    const words = argv`bulk create p.xlsx --template tmpl_nda --subject ${'For {name} ({account})'} --yes`;
    expect((await home.run(words)).code).toBe(2);
    expect((await home.run([...words, '--sheet', 'People'])).code).toBe(0);
    expect(await envelopes()).toMatchObject([
      {
        subject: 'For Ada Lovelace (00491234567890123456)',
        metadata: { account: '00491234567890123456' },
      },
    ]);
  });

  it('is read as CSV from Windows if its encoding is named', async () => {
    const text = 'email;name;subject\r\nju@example.com;Jürgen “JJ” Groß;10 € – {name}\r\n';
    await given('w.csv', createSinglebyteEncoder('windows-1252')(text));
    const words = argv`bulk create w.csv --template tmpl_nda --yes --json`;
    const refused = await home.run(words);
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(reportedError(refused).hint).toContain('--encoding windows-1252');
    expect((await home.run([...words, '--encoding', 'cp1252'])).code).toBe(0);
    expect(await envelopes()).toMatchObject([
      { subject: '10 € – Jürgen “JJ” Groß', signers: [{ name: 'Jürgen “JJ” Groß' }] },
    ]);
  });

  it('evaluates no cell of the results as a formula', async () => {
    const created: object[] = [];
    const service = await fakeService((request, response) => {
      if (request.path.includes('/templates/')) return json(response, 200, { data: { id: 'tmpl_nda' } });
      if (request.method === 'GET') return answerPage(request, response, created.length, () => created[0]);
      if (request.body.includes('ada@')) {
        const body = parseJson(request.body);
        created.push({ ...(isRecord(body) ? body : {}), id: '=HYPERLINK("http://x")', status: '@SUM(1)' });
        return json(response, 201, { data: created[0] });
      }
      return json(response, 400, { error: { code: '+CMD', message: 'no' } });
    });
    await given('formula.csv', 'email,request_id\nada@example.com,=1+1\nbo@example.com,-2+3\n');
    const { code } = await home.run(argv`bulk create formula.csv --template tmpl_nda --yes`, {
      env: service.env,
    });
    expect(code).toBe(10);
    expect(linesOf((await home.run(argv`bulk export`, { env: service.env })).stdout)).toEqual([
      'row,line,request_id,envelope_id,status,error',
      `1,2,'=1+1,"'=HYPERLINK(""http://x"")",'@SUM(1),`,
      "2,3,'-2+3,,,'+CMD: no",
    ]);
  });
});
