import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isList, isRecord, parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { holdingsOf, resumeThroughKills, rowsOf } from '../support/bulk-check.ts';
import { COMMAND, Home, jsonLines, linesOf, reportedError, type Sandbox } from '../support/cli.ts';
import { answerPage, fakeService } from '../support/fake-service.ts';
import { openScreen } from '../support/pty.ts';
import { json } from '../support/server.ts';

const home = new Home();
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await home.sandbox(['--rate-limit', '1000000/15m']);
});
afterAll(() => home.close());
beforeEach(async () => {
  await home.run`sandbox reset --yes`;
});

const faults = (settings: unknown) => home.faults(settings);
const create = (...args: string[]) => ['bulk', 'create', ...args];
async function lastRun(): Promise<Record<string, unknown>> {
  const runs = await home.json`bulk list -L 1`;
  const run: unknown = isList(runs) ? runs[0] : undefined;
  return isRecord(run) ? run : {};
}
async function given(name: string, text: string): Promise<string> {
  await writeFile(home.path(name), text);
  return name;
}

describe('bulk create', () => {
  it('sends each row, reports it as it happens, and stores every result', async () => {
    const file = await given(
      'rows.csv',
      'email,name,role,meta.deal,request_id,subject,expires_in_days\nada@example.com,Ada,,4711,deal-1,"Lease, signed\nsoon",9\nbo@example.com,Bo,,,deal-2,,\n',
    );
    const { code, stdout, stderr } = await home.run(
      create(file, '--template', 'tmpl_nda', '--send', '--yes', '--json'),
    );
    expect([code, stderr]).toEqual([0, '']);
    const lines = jsonLines(stdout);
    expect(lines).toHaveLength(2);
    expect(lines).toEqual(
      expect.arrayContaining([
        {
          run: expect.stringMatching(/^run-/) as unknown,
          row: 1,
          requestId: 'deal-1',
          ok: true,
          envelopeId: expect.stringMatching(/^env_/) as unknown,
          status: 'SENT',
          error: null,
        },
      ]),
    );
    const envelopes = parseJson((await home.run`envelopes list --json`).stdout);
    expect(envelopes).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          subject: 'Lease, signed\nsoon',
          metadata: expect.objectContaining({ deal: '4711', esignRequestId: 'deal-1' }) as unknown,
        }),
      ]),
    );
    const run = await lastRun();
    expect(run).toMatchObject({ file: 'rows.csv', state: 'finished', total: 2, done: 2, failed: 0 });
    expect(Object.keys(run)).toEqual([
      'id',
      'file',
      'createdAt',
      'state',
      'total',
      'done',
      'failed',
      'existing',
    ]);
    const csv = await home.run`bulk export --last --csv`;
    expect(linesOf(csv.stdout)).toEqual([
      'row,request_id,envelope_id,status,error',
      expect.stringMatching(/^1,deal-1,env_\w+,SENT,$/),
      expect.stringMatching(/^2,deal-2,env_\w+,SENT,$/),
    ]);
    expect(await readFile(home.path('state', 'bulk', String(run.id), 'results.csv'), 'utf8')).toBe(
      csv.stdout,
    );
  });

  it('shows a spreadsheet no cell that it would evaluate as a formula', async () => {
    // For any row, the service returns text that looks like a formula.
    const service = await fakeService((request, response) => {
      if (request.path.includes('/templates/'))
        return json(response, 200, { data: { id: 'tmpl_nda', name: 'NDA' } });
      if (request.method === 'GET') return answerPage(request, response, 0, () => null);
      if (request.body.includes('ada@'))
        return json(response, 201, { data: { id: '=HYPERLINK("http://x")', status: '@SUM(1)' } });
      return json(response, 400, { error: { code: '+CMD', message: 'no' } });
    });
    const file = await given('formula.csv', 'email,request_id\nada@example.com,=1+1\nbo@example.com,-2+3\n');
    const { code } = await home.run(create(file, '--template', 'tmpl_nda', '--yes'), { env: service.env });
    await service.server.close();
    expect(code).toBe(10);
    const { id } = await lastRun();
    const csv = await home.run`bulk export --last --csv`;
    expect(linesOf(csv.stdout)).toEqual([
      'row,request_id,envelope_id,status,error',
      `1,'=1+1,"'=HYPERLINK(""http://x"")",'@SUM(1),`,
      "2,'-2+3,,,'+CMD: no",
    ]);
    expect(await readFile(home.path('state', 'bulk', String(id), 'results.csv'), 'utf8')).toBe(csv.stdout);
  });

  it('creates nothing for request IDs that an earlier run created', async () => {
    const file = await given(
      'again.csv',
      'email,request_id\nada@example.com,same-1\nbo@example.com,same-2\n',
    );
    const words = create(file, '--template', 'tmpl_nda', '--send', '--yes', '--json');
    expect((await home.run(words)).code).toBe(0);
    const again = await home.run(words);
    expect([again.code, jsonLines(again.stdout).length]).toEqual([0, 2]);
    expect((await holdingsOf(sandbox)).perSigner).toEqual(
      new Map([
        ['ada@example.com', 1],
        ['bo@example.com', 1],
      ]),
    );
  });

  it('creates drafts without --send, and reads JSON Lines from stdin, several signers, and templates', async () => {
    const rows = [
      {
        requestId: 'r1',
        templateId: 'tmpl_nda',
        signers: [{ email: 'a@example.com' }],
        metadata: { deep: { x: [1] } },
      },
      {
        templateId: 'tmpl_lease',
        signers: [
          { email: 'b@example.com', name: 'B', role: 'Tenant' },
          { email: 'c@example.com', role: 'Landlord' },
        ],
      },
    ];
    const input = `${rows.map((row) => JSON.stringify(row)).join('\n')}\n`;
    const { code, stdout, stderr } = await home.run(create('-', '--json'), { input });
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^2 signers have no name.*\n$/)]);
    expect(jsonLines(stdout)).toMatchObject([{ status: 'DRAFT' }, { status: 'DRAFT' }]);
    expect((await holdingsOf(sandbox)).drafts).toBe(2);
  });

  it.each([
    ['unknown column', 'emial,name\na@b.c,x\n', /rows\.csv:1 emial: unknown column; did you mean email\?/],
    [
      'bad address',
      'email\nnope\n',
      /rows\.csv:2 email: "nope" is not an email address; use an address such as a@b\.c/,
    ],
    [
      'semicolons',
      'email;expires_in_days\na@b.c;soon\n',
      /rows\.csv:2 expires_in_days: "soon" is not a number of days/,
    ],
    ['line numbers', 'email,message\na@b.c,"two\nlines"\nbad,x\n', /rows\.csv:4 email/],
    ['the same row twice', 'email\na@b.c\na@b.c\n', /rows\.csv:3: .* line 2/],
    ['the same address in other letters', 'email,name\na@b.c,A\nA@b.c,A\n', /rows\.csv:3: .* line 2/],
    ['the same content twice', 'email,expires_in_days\na@b.c,5\na@b.c,6\n', /rows\.csv:3: .* line 2/],
    [
      'the same id twice',
      'email,request_id\na@b.c,x\nb@b.c,x\n',
      /rows\.csv:3 request_id: "x" is already used on line 2/,
    ],
    ['empty', '', /rows\.csv:1: the file has no rows/],
    ['no rows', 'email,name\n', /rows\.csv:1: the file has no rows/],
    ['broken quotes', 'email\n"a@b.c\n', /rows\.csv:2: a quote is opened here and never closed/],
    [
      'unknown template',
      'email,template_id\na@b.c,tmpl_missing\n',
      /rows\.csv:2: template tmpl_missing does not exist/,
    ],
    [
      'no JSON',
      '{"signers":[]}\n{oops\n',
      /rows\.csv:1 signers: the row has no signer[\s\S]*rows\.csv:2: the line is not JSON/,
    ],
  ])('refuses a file before anything is sent: %s', async (_, text, says) => {
    const file = await given('rows.csv', text);
    const run = await home.run(create(file, '--template', 'tmpl_nda', '--send', '--yes', '--json'));
    expect(run.code).toBe(2);
    expect(reportedError(run).message).toMatch(says);
    expect((await holdingsOf(sandbox)).perSigner.size).toBe(0);
  });

  it("refuses roles that a template doesn't have, if the template lists its roles", async () => {
    const roles: Record<string, unknown> = { tmpl_lease: ['Tenant', 'Landlord'], tmpl_nda: undefined };
    const service = await fakeService((request, response) => {
      const id = request.path.split('/').at(-1) ?? '';
      json(response, 200, { data: { id, name: id, roles: roles[id] } });
    });
    try {
      const dryRun = async (text: string) =>
        home.run(create(await given('rows.csv', text), '--dry-run', '--json'), { env: service.env });
      const refused = await dryRun(
        'email,role,template_id\na@b.c,Tennant,tmpl_lease\nb@b.c,Tennant,tmpl_lease\nc@b.c,Witness,tmpl_lease\ne@b.c,Anybody,tmpl_nda\n',
      );
      expect(refused.code).toBe(2);
      const { message } = reportedError(refused);
      expect(linesOf(String(message)).slice(-2)).toEqual([
        expect.stringMatching(/^rows\.csv:2 role: tmpl_lease .*"Tennant" .*1 more row.* Tenant\?$/),
        expect.stringMatching(/^rows\.csv:4 role: tmpl_lease .*"Witness"; .* Tenant, Landlord\.$/),
      ]);
      const right = await dryRun(
        'signer1_email,signer1_name,signer2_email,signer2_name,template_id\na@b.c,Ada,d@b.c,Bo,tmpl_lease\n',
      );
      expect([right.code, right.stderr]).toEqual([0, '']);
      expect(service.server.seen.every(({ method }) => method === 'GET')).toBe(true);
    } finally {
      await service.server.close();
    }
  });

  it('refuses non-UTF-8 files, summarizes more than fifty problems, and never continues without confirmation', async () => {
    await writeFile(home.path('latin1.csv'), Buffer.from('email,name\na@b.c,M\xfcller\n', 'latin1'));
    const latin = await home.run(create('latin1.csv', '--template', 'tmpl_nda', '--json'));
    expect(latin.code).toBe(2);
    expect(reportedError(latin).message).toMatch(/^latin1\.csv:2 .*windows-1252/);
    const many = await home.run(
      create(await given('many.csv', `email\n${'bad\n'.repeat(70)}`), '--template', 'tmpl_nda'),
    );
    expect(many.stderr).toContain('and 20 more');
    const asked = await home.run(
      create(await given('ok.csv', rowsOf(3)), '--template', 'tmpl_nda', '--send', '--json'),
    );
    expect([asked.code, reportedError(asked).code]).toEqual([2, 'USAGE']);
    const dry = await home.object(create('ok.csv', '--template', 'tmpl_nda', '--send', '--dry-run'));
    expect(dry).toEqual({
      dryRun: true,
      file: 'ok.csv',
      rows: 3,
      signers: 3,
      existing: 0,
      send: true,
      requests: 6,
      first: { line: 2, subject: null, message: null },
    });
    expect((await holdingsOf(sandbox)).perSigner.size).toBe(0);
    const runs = await home.json`bulk list`;
    expect(JSON.stringify(runs)).not.toContain('ok.csv');
  });

  it('reports refused rows, completes the others, and exits with 10', async () => {
    await home.choose({ 'template-roles': 'hidden' });
    const file = await given('roles.csv', 'email,role\na@example.com,\nb@example.com,Nobody\n');
    const run = await home.run(create(file, '--template', 'tmpl_lease', '--send', '--yes', '--json'));
    expect(run.code).toBe(10);
    expect(jsonLines(run.stdout)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          row: 2,
          ok: false,
          error: expect.objectContaining({ code: 'VALIDATION_ERROR' }) as unknown,
        }),
      ]),
    );
    expect(await home.object`bulk show --last`).toMatchObject({
      failed: 1,
      done: 1,
      failures: [{ row: 2 }],
    });
    await home.choose({ 'template-roles': 'shown' });
  });

  it('stops for a quota, a key, or a request limit, and continues with resume', async () => {
    const file = await given('five.csv', rowsOf(5));
    const some = await home.run(
      create(
        file,
        '--template',
        'tmpl_nda',
        '--send',
        '--yes',
        '--max-requests',
        '4',
        '--concurrency',
        '1',
        '--json',
      ),
    );
    expect(some.code).toBe(10);
    expect(jsonLines(some.stderr)).toMatchObject([
      { error: { code: 'MAX_REQUESTS', hint: expect.stringContaining('bulk resume') as unknown } },
    ]);
    const run = await lastRun();
    expect(run).toMatchObject({ state: 'interrupted', total: 5 });
    const wrong = await home.run(argv`bulk resume --last --json`, {
      env: { ESIGN_BASE_URL: sandbox.baseUrl, ESIGN_API_KEY: 'sk_wrong_0123456789' },
    });
    expect([wrong.code, reportedError(wrong).code]).toEqual([3, 'UNAUTHORIZED']);
    expect((await home.run`bulk resume --last --json`).code).toBe(0);
    const { perSigner, drafts } = await holdingsOf(sandbox);
    expect([perSigner.size, [...perSigner.values()].every((count) => count === 1), drafts]).toEqual([
      5,
      true,
      0,
    ]);
  });
});

describe('a bulk run', () => {
  // If nothing is left to create, a killed run waits a minute before it trusts the list.
  it('emails each signer exactly once, when it is killed repeatedly and responses are lost', {
    timeout: 240_000,
  }, async () => {
    const COUNT = 120;
    const file = await given('kills.csv', rowsOf(COUNT));
    await faults({ lostReply: { match: 'POST /esign/envelopes', rate: 0.05 } });
    const first = create(file, '--template', 'tmpl_nda', '--send', '--yes', '--json');
    const done = await resumeThroughKills(home, first, [350, 500, 450, 600]);
    await faults({});
    expect(done.code, done.stderr).toBe(0);
    const { perSigner, mails, drafts, statuses } = await holdingsOf(sandbox);
    expect([perSigner.size, mails.size]).toEqual([COUNT, COUNT]);
    expect([...perSigner, ...mails].filter(([, count]) => count !== 1)).toEqual([]);
    expect([drafts, statuses.get('SENT')]).toEqual([0, COUNT]);
  });

  it('never runs in two processes at the same time, or at another service', async () => {
    const file = await given('two.csv', rowsOf(200));
    const running = home.start(
      create(file, '--template', 'tmpl_nda', '--send', '--yes', '--concurrency', '1', '--json'),
    );
    await running.line();
    const second = await home.run`bulk resume --last --json`;
    expect([second.code, reportedError(second).code]).toEqual([2, 'USAGE']);
    expect(await home.json`bulk list -L 1`).toMatchObject([{ state: 'running' }]);
    expect(await running.stop('SIGINT')).toEqual({ code: null, signal: 'SIGINT' });
    expect(await home.json`bulk list -L 1`).toMatchObject([{ state: 'interrupted' }]);
    const elsewhere = await home.run(argv`bulk resume --last --json`, {
      env: { ESIGN_BASE_URL: 'http://127.0.0.1:9/v1', ESIGN_API_KEY: 'sk_0123456789' },
    });
    expect(reportedError(elsewhere).message).toContain('was started with');
    expect((await home.run`bulk resume --last`).code).toBe(0);
    expect((await holdingsOf(sandbox)).perSigner.size).toBe(200);
  });

  it.each([['bulk resume --last'], ['bulk create rows.csv --template tmpl_nda --yes']])(
    'leaves no addresses of a run that was killed when it had just finished, after %s',
    async (words) => {
      await given('rows.csv', rowsOf(2));
      await home.run`bulk create rows.csv --template tmpl_nda --send --yes --again --waves 1`;
      const plan = home.path('state', 'bulk', String((await lastRun()).id), 'rows.jsonl');
      const rows = await readFile(plan);
      await home.run`bulk resume --last`;
      await writeFile(plan, rows);
      expect((await home.run(words.split(' '))).code).toBe(0);
      await expect(readFile(plan)).rejects.toThrow('ENOENT');
    },
  );

  it('is not started a second time with the same rows while it can be resumed', async () => {
    const words = create(await given('same.csv', rowsOf(6)), '--template', 'tmpl_nda', '--send', '--yes');
    const stopped = await home.run`${words} --max-requests 4`;
    expect(stopped.code).toBe(10);
    const { id } = await lastRun();
    expect(stopped.stderr).toContain(`esign bulk resume ${String(id)}`);
    // The same rows in another notation.
    await given('same.csv', `\ufeff${rowsOf(6).replaceAll(',', ';').replaceAll('\n', '\r\n')}`);
    const again = await home.run`${words} --json`;
    expect([again.code, reportedError(again).hint]).toEqual([
      2,
      expect.stringContaining(`bulk resume ${String(id)}`),
    ]);
    expect((await home.run`bulk resume --last`).code).toBe(0);
    const { mails } = await holdingsOf(sandbox);
    expect([mails.size, [...mails.values()].every((count) => count === 1)]).toEqual([6, true]);
    expect(await home.object`${words} --dry-run`).toMatchObject({ rows: 0, signers: 0, existing: 6 });
    const finished = await home.run`${words} --json`;
    expect(finished.code).toBe(0);
    expect(jsonLines(finished.stdout)).toMatchObject(
      Array.from({ length: 6 }, () => ({ ok: true, status: 'EXISTING' })),
    );
    // The run that sent the rows is named, not the one that skipped them.
    const third = await home.run`${words} --json`;
    expect([finished.stderr, third.stderr].every((text) => text.includes(String(id)))).toBe(true);
    expect((await holdingsOf(sandbox)).mails).toEqual(mails);
  });

  it('sends only the corrected row when the list is run again, and all rows with --again', async () => {
    const words = create(
      'corrected.csv',
      '--template',
      'tmpl_lease',
      '--send',
      '--yes',
      '--allow-missing-roles',
    );
    await home.choose({ 'template-roles': 'hidden' });
    const lines = (role: string) =>
      `email,name,role\na@example.com,Ann,Tenant\nb@example.com,Ben,${role}\nc@example.com,,Tenant\n`;
    await given('corrected.csv', lines('Nobody'));
    const first = await home.run`${words}`;
    expect(first.code).toBe(10);
    expect(first.stderr).toContain('corrected.csv:3  b@example.com (Ben): VALIDATION_ERROR');
    expect(await home.object`bulk show`).toMatchObject({
      failures: [{ row: 2, line: 3, signers: [{ email: 'b@example.com', name: 'Ben' }] }],
    });
    // A finished run has nothing to resume; it reports the failed rows.
    const resumed = await home.run`bulk resume --last`;
    expect([resumed.code, resumed.stderr]).toEqual([10, expect.stringContaining('b@example.com (Ben)')]);
    await given('corrected.csv', lines('Landlord'));
    const second = await home.run`${words} --json`;
    expect(second.code).toBe(0);
    expect(jsonLines(second.stdout)).toMatchObject([
      { row: 1, status: 'EXISTING' },
      { row: 3, status: 'EXISTING' },
      { row: 2, status: 'SENT' },
    ]);
    const once = ['a', 'b', 'c'].map((name): [string, number] => [`${name}@example.com`, 1]);
    expect((await holdingsOf(sandbox)).mails).toEqual(new Map(once));
    expect((await home.run`${words} --again`).code).toBe(0);
    expect([...(await holdingsOf(sandbox)).mails.values()]).toEqual([2, 2, 2]);
    await home.choose({ 'template-roles': 'shown' });
  });

  it('sends the drafts of an earlier run and creates no others', async () => {
    const words = create(await given('drafts.csv', rowsOf(4)), '--template', 'tmpl_nda', '--yes');
    expect((await home.run`${words}`).code).toBe(0);
    const ids = (await home.run`envelopes list -q`).stdout.trim().split('\n');
    await home.run`envelopes cancel ${ids[0] ?? ''}`;
    expect((await home.run`${words}`).code).toBe(0);
    expect((await holdingsOf(sandbox)).drafts).toBe(3);
    const sent = await home.run`${words} --send --json`;
    expect(sent.code).toBe(0);
    const { mails, statuses } = await holdingsOf(sandbox);
    expect([mails.size, [...mails.values()].every((count) => count === 1)]).toEqual([4, true]);
    expect(Object.fromEntries(statuses)).toEqual({ SENT: 4, CANCELLED: 1 });
  });

  it('asks on a terminal: no sends nothing, yes sends and shows progress', async () => {
    await given('asked.csv', rowsOf(5));
    const [program, ...before] = COMMAND;
    const words = create(home.path('asked.csv'), '--template', 'tmpl_nda', '--send');
    for (const [answer, emailed] of [
      ['n', 0],
      ['y', 5],
    ] as const) {
      const screen = openScreen(program, [...before, ...words], { env: home.env, columns: 120 });
      await screen.shows('Send 5 envelopes to 5 signers?');
      screen.type(`${answer}\r`);
      expect((await screen.ended).code).toBe(answer === 'y' ? 0 : 2);
      await screen.shows(answer === 'y' ? '5 envelopes sent.' : 'Not confirmed; nothing was sent.');
      expect((await holdingsOf(sandbox)).mails.size).toBe(emailed);
    }
  });

  it('prints the plan and the result, and one line per row in a pipe', async () => {
    const file = await given('said.csv', 'email,name\nada@gmial.com,Ada\nbo@example.com,Bo\n');
    const run = await home.run(create(file, '--template', 'tmpl_nda', '--send', '--yes'));
    expect(run.code).toBe(0);
    expect(run.stderr).toMatch(/^said\.csv:2: .*ada@gmial\.com.* gmail\.com\?$/m);
    expect(run.stderr).toMatch(/^said\.csv: 2 envelopes for 2 signers .*tmpl_nda/m);
    expect(run.stderr).toMatch(/4 requests; .*\([\d,]+ left; 10% of 1,000,000 /);
    expect(run.stderr).toMatch(/2 envelopes sent\. .*: .*results\.csv\n/);
    expect(linesOf(run.stdout).sort()).toEqual([
      expect.stringMatching(/^1\trun-[\w-]+-1\tenv_\w+\tSENT\t$/),
      expect.stringMatching(/^2\trun-[\w-]+-2\tenv_\w+\tSENT\t$/),
    ]);
  });

  it.each([
    ['25%', /; 25% of 1,000,000 is reserved for your other systems/],
    ['0.5', /; 50% of 1,000,000 is reserved/],
    ['0', /left of 1,000,000\)\./],
  ])('keeps --reserve %s of the rate window', async (reserve, says) => {
    const file = await given('kept.csv', rowsOf(2));
    const run = await home.run(create(file, '--template', 'tmpl_nda', '--reserve', reserve, '--yes'));
    expect([run.code, run.stderr]).toEqual([0, expect.stringMatching(says)]);
  });

  it('prints an example that works unchanged', async () => {
    for (const name of ['example.csv', 'example.jsonl']) {
      expect((await home.run`bulk template ${name} --template tmpl_nda`).code).toBe(0);
      expect((await home.run`bulk create ${name} --dry-run`).code).toBe(0);
      expect((await home.run`bulk template ${name}`).code).toBe(2);
    }
  });
});
