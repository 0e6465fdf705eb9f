import { describe, expect, it } from 'vitest';
import type { RowDefaults } from '../../src/bulk/rows/check-row.ts';
import { unusedColumns } from '../../src/bulk/rows/columns.ts';
import { readJsonRows } from '../../src/bulk/rows/json-rows.ts';
import { UsageError } from '../../src/kernel/errors.ts';
import { check, problems } from './check-text.ts';

describe('placeholders', () => {
  const emails = async (text: string, flags: RowDefaults = {}) => {
    const { rows, report } = await check(text, 7, flags);
    return {
      subjects: rows.map(({ envelope }) => envelope.subject),
      problems: report.problems.groups().map(({ line, column, text: what }) => `${line} ${column} ${what}`),
    };
  };

  it("are filled in from any column, and a row's own text overrides a flag", async () => {
    const { subjects } = await emails(
      'E-Mail,name,meta.Deal No,subject\nada@b.c,Ada,4711,\nbo@b.c,Bo,12,"{{{name}}} has {EMAIL}, {meta.deal no}, }"\n'.replace(
        'E-Mail',
        'Email',
      ),
      { subject: 'For {name}: {Deal No}' },
    );
    expect(subjects).toEqual(['For Ada: 4711', '{Bo} has bo@b.c, 12, }']);
  });

  it('name a signer when a row has several', async () => {
    const header = 'signer1_email,signer1_name,signer2_email,signer2_name\n';
    const row = 'a@b.c,Ada,b@b.c,Bo\n';
    const { subjects } = await emails(header + row, { subject: '{signer2_name} and {signer1_name}' });
    expect(subjects).toEqual(['Bo and Ada']);
    expect((await emails(header + row, { subject: '{name}' })).problems).toHaveLength(1);
    expect((await emails(`${header}a@b.c,Ada,,\n`, { subject: '{name}' })).subjects).toEqual(['Ada']);
  });

  it.each([
    ['unknown', '{nmae}', /did you mean \{name\}/],
    ['without a name', 'Hi {}', /\{\}/],
    ['unclosed', 'Hi {name', /not closed/],
    ['empty in the row', '{role}', /empty/],
    ['a reference to the subject', '{subject}', /no column/],
  ])('are refused for the row: %s', async (_, subject, problem) => {
    const { problems } = await emails(
      `email,name,role,subject\nada@b.c,Ada,,${subject}\nbo@b.c,Bo,Owner,x\n`,
    );
    expect(problems).toEqual([expect.stringMatching(problem)]);
    expect(problems[0]).toMatch(/^2 subject /);
  });

  it('are filled in from the fields of a JSON Lines row', async () => {
    const row = {
      signers: [{ email: 'a@b.c', name: 'Ada' }],
      metadata: { deal: 7 },
      subject: '{name} {deal} {signer1_email}',
    };
    expect((await emails(JSON.stringify(row))).subjects).toEqual(['Ada 7 a@b.c']);
  });
});

describe('a CSV file', () => {
  it.each([
    ['commas', ','],
    ['semicolons', ';'],
    ['tabs', '\t'],
    ['bars', '|'],
  ])('may have %s between its cells', async (_, sign) => {
    const { rows } = await check(`email,name,meta.deal\nada@b.c,Ada Löwe,4711\n`.replaceAll(',', sign));
    expect(rows).toEqual([
      {
        row: 1,
        line: 2,
        envelope: {
          templateId: 'tmpl_1',
          signers: [{ email: 'ada@b.c', name: 'Ada Löwe' }],
          metadata: { deal: '4711' },
        },
      },
    ]);
  });

  it('may come from a spreadsheet: byte order mark, sep=, CRLF, capitals and blanks in the header, empty rows', async () => {
    const { rows } = await check(
      '\ufeffsep=;\r\nE-Mail;x\r\n'.replace('E-Mail;x', 'EMAIL; Expires in-days ') +
        'a@b.c;7\r\n;\r\n\r\nd@e.f;\r\n',
    );
    expect(
      rows.map(({ line, envelope }) => [line, envelope.signers[0]?.email, envelope.expiresInDays]),
    ).toEqual([
      [3, 'a@b.c', 7],
      [6, 'd@e.f', undefined],
    ]);
  });

  it('keeps quoted line breaks, quotes, and delimiters, and the line numbers of later rows', async () => {
    const { rows } = await check('email,message\na@b.c,"one, ""two""\nthree"\nd@e.f,x\n', 1);
    expect(rows.map(({ line, envelope }) => [line, envelope.message])).toEqual([
      [2, 'one, "two"\nthree'],
      [4, 'x'],
    ]);
  });

  it('may have several signers per row, some of them empty', async () => {
    const { rows } = await check(
      'signer2_email,signer1_email,signer1_role,signer10_email,signer10_order\nb@x.y,a@x.y,Tenant,j@x.y,3\n,a@x.z,,,\n',
    );
    expect(rows.map(({ envelope }) => envelope.signers)).toEqual([
      [
        { email: 'a@x.y', name: 'a@x.y', role: 'Tenant' },
        { email: 'b@x.y', name: 'b@x.y' },
        { email: 'j@x.y', name: 'j@x.y', order: 3 },
      ],
      [{ email: 'a@x.z', name: 'a@x.z' }],
    ]);
  });

  it('is reported with all its errors by line and column', async () => {
    expect(
      await problems(
        'signer1_email,signer2_email,signer2_order,expires_in_days,signing_order,webhook_url\nnope,b@x.y,x,0,random,ftp//\n,,1,,,\na@x.y,A@X.Y,,,,\n',
      ),
    ).toEqual([
      expect.stringMatching(/^2 signer1_email: "nope" /),
      expect.stringMatching(/^2 signer2_order: "x" /),
      expect.stringMatching(/^2 webhook_url: "ftp\/\/" /),
      expect.stringMatching(/^2 expires_in_days: "0" /),
      expect.stringMatching(/^2 signing_order: "random" /),
      expect.stringMatching(/^3 signer2_email: /),
      expect.stringMatching(/^4 signer2_email: A@X\.Y is already a signer/),
    ]);
  });

  it('reports mistyped columns, and checks their cells in the same round', async () => {
    expect(await problems('emial,signer1_nmae,subject,Subject\nx,X,,\n')).toEqual([
      expect.stringMatching(/^1 emial: .* email\?$/),
      expect.stringMatching(/^1 signer1_nmae: .* signer1_name\?$/),
      expect.stringMatching(/^1 Subject: this is the same column as subject/),
      expect.stringMatching(/^2 emial: "x" is not an email address/),
    ]);
    expect(await problems('subject,Subject\nx,y\n')).toEqual([
      expect.stringMatching(/^1 Subject: .*\bsubject\b/),
      expect.stringMatching(/^1 : .*\bemail\b/),
    ]);
  });

  it('names columns that are not used, and sends the rest', async () => {
    const { rows, report } = await check('email,name,Comment,Title,Names,esign_note,\na@b.c,Ada,x,y,z,,\n');
    expect([report.problems.count, rows[0]?.envelope.metadata]).toEqual([0, undefined]);
    expect(unusedColumns(report.columns)).toEqual(['Comment', 'Title', 'Names']);
  });

  it('is refused if its first line is data', async () => {
    expect(await problems('ada@example.com,Ada\nbo@example.com,Bo\n')).toEqual([
      expect.stringMatching(/^1 : .*email,name$/),
    ]);
  });

  it('may have empty columns without a name', async () => {
    const { rows, report } = await check('Email;Name;;\na@b.c;Ada;;\nd@e.f;Bo;;;;\n');
    expect([report.problems.count, rows.length]).toEqual([0, 2]);
  });

  it('may contain the columns that an export added', async () => {
    const { rows, report } = await check('email,esign_row_status,esign_error\na@b.c,failed,x\n');
    const plain = await check('email\na@b.c\n');
    expect(report.problems.count).toBe(0);
    expect(rows).toEqual(plain.rows);
  });

  it.each([
    ['name', '#N/A'],
    ['name', '#WERT!'],
    ['name', '####'],
    ['subject', '#REF!'],
    ['name', '=VLOOKUP(A1)'],
    ['message', '=B2'],
    ['meta.account', '"1,23E+11"'],
    ['request_id', '1.2E+12'],
  ])('warns about a cell of a spreadsheet in %s: %s', async (column, cell) => {
    const { report } = await check(`email,${column}\na@b.c,${cell}\n`);
    expect(report.problems.count).toBe(0);
    expect(report.warnings.groups()).toMatchObject([{ line: 2, column }]);
  });

  it('is refused at the first line with a wrong number of cells or invalid quotes', async () => {
    expect(await problems('email,name\na@b.c,Ada, Countess\na@b.d\n')).toEqual([
      expect.stringMatching(/^2 : .* 3 cells, .* 2; .*","/),
      expect.stringMatching(/^3 : .* 1 cell, .* 2;/),
    ]);
    const [open] = await problems('email,message\na@b.c,"x\ny"\nd@e.f,"never closed\nd@e.g,x\n');
    expect(open).toMatch(/^4 : a quote is opened/);
    const [inside] = await problems('email,name\na@b.c,Ada "the" Countess\n');
    expect(inside).toMatch(/^2 : .* inside a cell/);
  });

  it('is reported with duplicate rows and request IDs; two different IDs mean two envelopes', async () => {
    expect(await problems('email,request_id\na@b.c,\nd@e.f,1\na@b.c,\ng@h.i,1\n')).toEqual([
      expect.stringMatching(/^5 request_id: "1" .* line 3/),
    ]);
    const { report } = await check('email,request_id\na@b.c,1\na@b.c,2\n');
    expect(report.problems.count).toBe(0);
  });

  it.each(['nan', 'NaN', 'None', 'NULL', 'undefined', '<NA>', 'nan nan'])(
    'warns about the empty value of another program: %s',
    async (name) => {
      const { report } = await check(`email,name,meta.city\na@b.c,${name},${name}\n`);
      const text = `"${name}" looks like an empty value of another program`;
      expect(report.warnings.groups().map((one) => one.text)).toEqual([text, text]);
    },
  );

  it.each(['Nan Goldin', 'Nanette', 'Jane Null', 'none@example.com'])('accepts the name %s', async (name) => {
    const { report } = await check(`email,name\na@b.c,${name}\n`);
    expect(report.warnings.groups()).toEqual([]);
  });

  it.each([
    ['a@gmial.com', 'gmail.com'],
    ['a@gmail.con', 'gmail.com'],
    ['a@hotmal.com', 'hotmail.com'],
    ['a@yahooo.com', 'yahoo.com'],
    ['a@gmail.com', undefined],
    ['a@mail.com', undefined],
    ['a@example.com', undefined],
  ])('warns about %s: %s', async (email, meant) => {
    const { report } = await check(`email\n${email}\n`);
    expect(report.warnings.groups().map(({ text }) => text)).toEqual(
      meant === undefined ? [] : [expect.stringContaining(`mean ${meant}?`)],
    );
  });
});

describe('a JSON Lines file', () => {
  it('contains create bodies as in the API', async () => {
    const body = {
      signers: [{ email: 'a@b.c', name: 'Ada', role: 'Tenant', order: 2 }],
      metadata: { deep: { x: [1] } },
      signingOrder: 'SEQUENTIAL',
    };
    const { rows } = await check(`${JSON.stringify({ ...body, requestId: 'r1' })}\n\n`);
    expect(rows).toEqual([{ row: 1, line: 1, requestId: 'r1', envelope: { templateId: 'tmpl_1', ...body } }]);
  });

  it('is reported with its errors by line and path', async () => {
    const lines = [
      '{"signers":[{"email":"a@b.c","nmae":"x"}],"subjekt":"x"}',
      '{"signers":[]}',
      '{oops',
      '{"signers":[{"email":"a@b.c"}],"sendImmediately":true,"webhookSecret":"0123456789abcdef"}',
      '{"signers":[{"email":"a@b.c"}],"metadata":{"esignRun":"x"},"expiresInDays":"7"}',
    ];
    expect(await problems(`${lines.join('\n')}\n`)).toEqual([
      expect.stringMatching(/^1 subjekt: .* subject\?$/),
      expect.stringMatching(/^1 signers\.0\.nmae: .* name\?$/),
      expect.stringMatching(/^2 signers: .* no signer/),
      expect.stringMatching(/^3 : the line is not JSON/),
      expect.stringMatching(/^4 sendImmediately: .*--send /),
      expect.stringContaining('4 webhookSecret: '),
      expect.stringMatching(/^5 metadata\.esignRun: /),
      expect.stringMatching(/^5 expiresInDays: "7" /),
    ]);
  });

  it.each([
    '9007199254740993',
    '12345678901234567890',
    '-9007199254740993',
    '1e400',
    '0.12345678901234567890',
  ])('is refused with a number that would be rounded: %s', async (number) => {
    const line = `{"signers":[{"email":"a@b.c"}],"metadata":{"order":${number}}}`;
    expect(await problems(line)).toEqual([
      `1 metadata.order: the number ${number} can't be kept exactly; write it in quotes`,
    ]);
  });

  it('has at most twenty signers per row', async () => {
    const signers = Array.from({ length: 21 }, (_, index) => ({ email: `s${index}@b.c` }));
    expect(await problems(JSON.stringify({ signers }))).toEqual([
      expect.stringMatching(/^1 signers: .* 21 signers; .* 20$/),
    ]);
  });
});

describe('an unreadable file', () => {
  it.each([
    [
      'another encoding',
      Buffer.from('email,name\na@b.c,Ada\nd@e.f,M\xfcller\n', 'latin1'),
      /^f\.csv:3 is not UTF-8/,
    ],
    ['a PDF', Buffer.from('%PDF-1.4 abc\n'), /is a PDF/],
    ['a web page', Buffer.from('<!DOCTYPE html>\n<html>'), /is a web page/],
    ['a damaged spreadsheet', Buffer.from('PK\u0003\u0004xxxx'), /is damaged/],
    ['truncated within a character', Buffer.from('email\na@b.c\nx\xc3', 'latin1'), /^f\.csv:3 .*UTF-8/],
  ])('refuses an unreadable file: %s', async (_, bytes, message) => {
    const error: unknown = await check(bytes, 64).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UsageError);
    expect(error).toMatchObject({ message: expect.stringMatching(message) as unknown });
  });
});

it('reports a JSON line that is not an object once', async () => {
  expect(
    await problems('{"templateId":"tmpl_nda","signers":[{"email":"a@b.c","name":"Ada"}]}\n[]\n'),
  ).toEqual(['2 : the line is not a JSON object; it must be the body of a create request']);
});

it('reads a long line of JSON in time that grows with its length only', async () => {
  async function* pieces() {
    yield '{"templateId":"tmpl_1","message":"';
    for (let n = 0; n < 20_000; n++) yield 'a'.repeat(1_000);
    yield '"}\n{"templateId":"tmpl_2"}';
  }
  const templates: unknown[] = [];
  for await (const { cell } of readJsonRows(pieces(), () => undefined)) templates.push(cell(['templateId']));
  expect(templates).toEqual(['tmpl_1', 'tmpl_2']);
});
