import { describe, expect, it } from 'vitest';
import { checkFile, type FileReport } from '../../src/bulk/rows/check-file.ts';
import type { BulkRow } from '../../src/bulk/rows/row.ts';
import { UsageError } from '../../src/kernel/errors.ts';

/** The rows and the report of a text that arrives in pieces of so many bytes. */
async function check(text: string | Buffer, piece = 7): Promise<{ rows: BulkRow[]; report: FileReport }> {
  const bytes = Buffer.from(text);
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += piece)
      yield await Promise.resolve(bytes.subarray(at, at + piece));
  }
  const rows: BulkRow[] = [];
  const report = await checkFile(
    { name: 'f.csv', bytes: pieces() },
    { templateId: 'tmpl_1', take: (row) => void rows.push(row) },
  );
  return { rows, report };
}
const problems = async (text: string | Buffer) =>
  (await check(text)).report.problems.first.map(
    ({ line, column, text: what }) => `${line} ${column}: ${what}`,
  );

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

  it('keeps quoted line breaks, quotes and delimiters, and the lines of the rows after them', async () => {
    const { rows } = await check('email,message\na@b.c,"one, ""two""\nthree"\nd@e.f,x\n', 1);
    expect(rows.map(({ line, envelope }) => [line, envelope.message])).toEqual([
      [2, 'one, "two"\nthree'],
      [4, 'x'],
    ]);
  });

  it('may have several signers a row, some of them left out', async () => {
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

  it('names what is wrong by line and column, all of it', async () => {
    expect(
      await problems(
        'signer1_email,signer2_email,signer2_order,expires_in_days,signing_order,webhook_url\nnope,b@x.y,x,0,random,ftp//\n,,1,,,\na@x.y,A@X.Y,,,,\n',
      ),
    ).toEqual([
      '2 signer1_email: "nope" is not an email address; write it like a@b.c',
      '2 signer2_order: "x" is not a whole number; write 1, 2, 3',
      '2 webhook_url: "ftp//" is not a web address; write it like https://example.com/hook',
      '2 expires_in_days: "0" is not a number of days; write a whole number from 1',
      '2 signing_order: "random" is not a signing order; write sequential or parallel',
      '3 signer2_email: the signer has no address; fill it in',
      '4 signer2_email: A@X.Y is a signer of this row already; keep one',
    ]);
  });

  it('with a wrong header is judged by that alone', async () => {
    expect(await problems('emial,signer1_nmae,subject,Subject\nx\n')).toEqual([
      '1 emial: there is no such column; did you mean email?',
      '1 signer1_nmae: there is no such column; did you mean signer1_name?',
    ]);
    expect(await problems('subject,Subject\nx,y\n')).toEqual([
      '1 Subject: the column stands there twice, as subject, too; keep one',
      '1 : the header has no column email (or signer1_email); the first line names the columns',
    ]);
  });

  it('with rows of another length, or quotes that are wrong, is refused at the line where they begin', async () => {
    expect(await problems('email,name\na@b.c,Ada, Countess\na@b.d\n')).toEqual([
      '2 : the row has 3 cells, the header 2; put a cell that holds a "," in quotes',
      '3 : the row has 1 cells, the header 2; add the empty ones',
    ]);
    const [open] = await problems('email,message\na@b.c,"x\ny"\nd@e.f,"never closed\nd@e.g,x\n');
    expect(open).toMatch(/^4 : a quote is opened here/);
    const [inside] = await problems('email,name\na@b.c,Ada "the" Countess\n');
    expect(inside).toMatch(/^2 : a quote stands inside a cell/);
  });

  it('reports rows and request ids that come twice; two ids say that two envelopes are meant', async () => {
    expect(await problems('email,request_id\na@b.c,\nd@e.f,1\na@b.c,\ng@h.i,1\n')).toEqual([
      '4 : the row is the same as line 2; delete one, or give each a request_id if both are meant',
      '5 request_id: "1" stands on line 3 already; each row needs its own',
    ]);
    const { report } = await check('email,request_id\na@b.c,1\na@b.c,2\n');
    expect(report.problems.count).toBe(0);
    expect(report.warnings.first).toMatchObject([
      { line: 3, text: expect.stringContaining('line 2') as unknown },
    ]);
  });

  it('shows the first fifty problems and counts the rest', async () => {
    const { report } = await check(`email\n${'nope\n'.repeat(70)}`);
    expect([report.problems.first.length, report.problems.count]).toEqual([50, 70]);
  });

  it.each([
    ['a@gmial.com', 'gmail.com'],
    ['a@gmail.con', 'gmail.com'],
    ['a@hotmal.com', 'hotmail.com'],
    ['a@yahooo.com', 'yahoo.com'],
    ['a@gmail.com', undefined],
    ['a@mail.com', undefined],
    ['a@example.com', undefined],
  ])('warns of %s: %s', async (email, meant) => {
    const { report } = await check(`email\n${email}\n`);
    expect(report.warnings.first.map(({ text }) => text)).toEqual(
      meant === undefined ? [] : [`is ${email} meant to be at ${meant}?`],
    );
  });

  it('has the same fingerprint however it is written', async () => {
    const [a, b, c] = await Promise.all([
      check('email,name\na@b.c,Ada\n'),
      check('\ufeffname;email\r\nAda;a@b.c\r\n'),
      check('email,name\na@b.c,Eda\n'),
    ]);
    expect(a.report.fingerprint).toBe(b.report.fingerprint);
    expect(a.report.fingerprint).not.toBe(c.report.fingerprint);
  });
});

describe('a JSON Lines file', () => {
  it('holds create bodies as in the API', async () => {
    const body = {
      signers: [{ email: 'a@b.c', name: 'Ada', role: 'Tenant', order: 2 }],
      metadata: { deep: { x: [1] } },
      signingOrder: 'SEQUENTIAL',
    };
    const { rows } = await check(`${JSON.stringify({ ...body, requestId: 'r1' })}\n\n`);
    expect(rows).toEqual([{ row: 1, line: 1, requestId: 'r1', envelope: { templateId: 'tmpl_1', ...body } }]);
  });

  it('names what is wrong by line and path', async () => {
    const lines = [
      '{"signers":[{"email":"a@b.c","nmae":"x"}],"subjekt":"x"}',
      '{"signers":[]}',
      '{oops',
      '{"signers":[{"email":"a@b.c"}],"sendImmediately":true,"webhookSecret":"0123456789abcdef"}',
      '{"signers":[{"email":"a@b.c"}],"metadata":{"esignRun":"x"},"expiresInDays":"7"}',
    ];
    expect(await problems(`${lines.join('\n')}\n`)).toEqual([
      '1 subjekt: there is no such field; did you mean subject?',
      '1 signers.0.nmae: there is no such field; did you mean name?',
      '2 signers: the row has no signer; an envelope needs at least one',
      expect.stringMatching(/^3 : the line is not JSON/),
      '4 sendImmediately: whether rows are sent is decided by --send; take it out',
      expect.stringContaining('4 webhookSecret: secrets are kept out of files'),
      '5 metadata.esignRun: esign keeps its own notes under this name; choose another one',
      '5 expiresInDays: "7" is not a number of days; write a whole number from 1',
    ]);
  });

  it('has at most twenty signers a row', async () => {
    const signers = Array.from({ length: 21 }, (_, index) => ({ email: `s${index}@b.c` }));
    expect(await problems(JSON.stringify({ signers }))).toEqual([
      '1 signers: the row has 21 signers; an envelope takes at most 20',
    ]);
  });
});

describe('a file that is no text', () => {
  it.each([
    [
      'Latin-1',
      Buffer.from('email,name\na@b.c,Ada\nd@e.f,M\xfcller\n', 'latin1'),
      'f.csv:3 is not UTF-8 text.',
    ],
    ['UTF-16', Buffer.from('\ufeffemail\na@b.c\n', 'utf16le'), 'f.csv is UTF-16 text.'],
    ['a spreadsheet', Buffer.from('PK\u0003\u0004xxxx'), 'f.csv is a spreadsheet or another zipped file.'],
    ['cut in a letter', Buffer.from('email\na@b.c\nx\xc3', 'latin1'), 'f.csv:3 is not UTF-8 text.'],
  ])('is refused: %s', async (_, bytes, message) => {
    const error: unknown = await check(bytes).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UsageError);
    expect(error).toMatchObject({ message });
  });
});
