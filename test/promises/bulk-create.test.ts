import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { lockFile } from '../../src/kernel/files/lock.ts';
import { isList, isRecord } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { Home, jsonLines, reportedError } from '../support/cli.ts';
import { keyRevokedAfter, listsNothing, type Relay, refuses, relayedSandbox } from '../support/relay.ts';

const home = new Home();
let relay: Relay;
beforeAll(async () => {
  relay = await relayedSandbox(home);
});
beforeEach(() => relay.reset());

/** Writes rows.csv with the people NAME0, NAME1, … */
const people = async (name: string, count: number) => {
  const lines = Array.from({ length: count }, (_, n) => `${name}${n}@example.com,${name} ${n}\n`);
  await writeFile(home.path('rows.csv'), `email,name\n${lines.join('')}`);
};
const once = (name: string, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`${name}${n}@example.com`, 1]));
const create = (...flags: string[]) =>
  home.run(argv`bulk create rows.csv --template tmpl_nda --yes --json ${flags}`);
const send = (...flags: string[]) => create('--send', ...flags);
const resume = (...flags: string[]) => home.run(argv`bulk resume --yes --json ${flags}`);
const rowsIn = (stdout: string) =>
  jsonLines(stdout)
    .filter(isRecord)
    .toSorted((a, b) => Number(a.row) - Number(b.row));
const creates = () =>
  relay.seen.filter(({ method, path }) => method === 'POST' && path === '/esign/envelopes');
async function lastRun(): Promise<Record<string, unknown>> {
  const runs = await home.json`bulk list -L 1`;
  const run: unknown = isList(runs) ? runs[0] : undefined;
  return isRecord(run) ? run : {};
}

describe('bulk create', () => {
  it.each([
    ['QUOTA_EXCEEDED', 403, 7],
    ['FORBIDDEN', 403, 3],
    ['UNAUTHORIZED', 401, 3],
  ])('has emailed nobody when %s stops it before the last draft', async (refusal, status, exitCode) => {
    await people(refusal.toLowerCase(), 5);
    let created = 0;
    relay.intervene = ({ method, path }) =>
      method === 'POST' && path === '/esign/envelopes' && ++created > 4
        ? { status, code: refusal }
        : undefined;
    const { code, stderr } = await send();
    expect([code, jsonLines(stderr)]).toMatchObject([exitCode, [{ error: { code: refusal } }]]);
    expect(await lastRun()).toMatchObject({ state: 'interrupted', done: 0, failed: 0 });
    expect(await relay.emails()).toEqual({});
  });

  it('sends each row once and reports it', async () => {
    await writeFile(
      home.path('rows.csv'),
      'email,name,meta.deal,request_id,message\nada@example.com,Ada,4711,deal-1,"Lease, signed\nsoon"\nbo@example.com,Bo,,deal-2,\n',
    );
    const { code, stdout, stderr } = await send();
    expect([code, stderr]).toEqual([0, '']);
    const { id, ...run } = await lastRun();
    expect(run).toMatchObject({ file: 'rows.csv', state: 'finished', total: 2, done: 2, failed: 0 });
    const [first, second] = rowsIn(stdout);
    expect(Object.keys(first ?? {})).toEqual([
      'run',
      'row',
      'line',
      'requestId',
      'ok',
      'envelopeId',
      'status',
      'error',
    ]);
    expect([first, second]).toMatchObject([
      { run: id, row: 1, line: 2, requestId: 'deal-1', ok: true, status: 'SENT', error: null },
      { run: id, row: 2, line: 4, requestId: 'deal-2', ok: true, status: 'SENT', error: null },
    ]);
    expect(await home.object`envelopes get ${String(first?.envelopeId)}`).toMatchObject({
      message: 'Lease, signed\nsoon',
      metadata: { deal: '4711', esignRequestId: 'deal-1' },
    });
    expect(await relay.emails()).toEqual({ 'ada@example.com': 1, 'bo@example.com': 1 });
  });

  it('creates drafts without --send, from JSON Lines on stdin', async () => {
    const rows = [
      { requestId: 'r1', templateId: 'tmpl_nda', signers: [{ email: 'a@example.com', name: 'A' }] },
      {
        templateId: 'tmpl_lease',
        signers: [
          { email: 'b@example.com', name: 'B', role: 'Tenant' },
          { email: 'c@example.com', name: 'C', role: 'Landlord' },
        ],
        metadata: { deep: { x: [1] } },
      },
    ];
    const input = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    const { code, stdout } = await home.run(argv`bulk create - --json`, { input });
    expect(code).toBe(0);
    expect(rowsIn(stdout)).toMatchObject([{ status: 'DRAFT' }, { status: 'DRAFT' }]);
    expect(await relay.emails()).toEqual({});
  });

  it('sends nothing with --dry-run, or without --yes if it cannot ask', async () => {
    await people('dry', 3);
    const before = await lastRun();
    const dry = await home.object`bulk create rows.csv --template tmpl_nda --send --dry-run`;
    expect(dry).toMatchObject({ dryRun: true, rows: 3, signers: 3, send: true, requests: 6 });
    const unasked = await home.run`bulk create rows.csv --template tmpl_nda --send --json`;
    expect(reportedError(unasked)).toMatchObject({ exitCode: 2, code: 'USAGE' });
    expect(creates()).toEqual([]);
    expect(await lastRun()).toEqual(before);
  });

  it('reports refused rows by line, sends the others, and exits with 10', async () => {
    await people('part', 3);
    relay.intervene = refuses('part1@');
    const { code, stdout } = await send();
    expect(code).toBe(10);
    expect(rowsIn(stdout)).toMatchObject([
      { row: 1, ok: true },
      {
        row: 2,
        line: 3,
        ok: false,
        envelopeId: null,
        error: { code: 'VALIDATION_ERROR', outcome: 'none' },
      },
      { row: 3, ok: true },
    ]);
    expect(await lastRun()).toMatchObject({ state: 'finished', done: 2, failed: 1 });
    // A finished run has nothing to resume.
    expect((await resume()).code).toBe(10);
    expect(Object.keys(await relay.emails())).toHaveLength(2);
  });

  it('prints an example that works unchanged', async () => {
    for (const name of ['example.csv', 'example.xlsx', 'example.jsonl']) {
      expect((await home.run`bulk template ${name} --template tmpl_nda`).code).toBe(0);
      expect((await home.run`bulk create ${name} --dry-run`).code).toBe(0);
      expect((await home.run`bulk template ${name}`).code).toBe(2);
      expect((await home.run`bulk template ${name} --force`).code).toBe(0);
    }
    expect((await readFile(home.path('example.csv'), 'utf8')).startsWith('\ufeff')).toBe(true);
    expect((await home.run`bulk template -`).stdout.startsWith('request_id,')).toBe(true);
  });

  it('stops if the first 20 rows all fail with one code', async () => {
    await people('bad', 300);
    relay.intervene = refuses('bad');
    const { code, stderr } = await send();
    expect([code, jsonLines(stderr)]).toMatchObject([
      10,
      [{ error: { code: 'ALL_ROWS_FAIL', outcome: null, run: (await lastRun()).id } }],
    ]);
    expect(creates().length).toBeLessThan(200);
    expect(await lastRun()).toMatchObject({ state: 'interrupted' });
  });

  it('does not stop if other rows succeed', async () => {
    await people('some', 100);
    relay.intervene = ({ method, body }) =>
      method === 'POST' && /some\d*[0-46-9]@/.test(body)
        ? { status: 400, code: 'VALIDATION_ERROR' }
        : undefined;
    expect((await send()).code).toBe(10);
    expect(await lastRun()).toMatchObject({ state: 'finished', done: 10, failed: 90 });
  });
});

describe('an interrupted run', () => {
  it('is resumed without losing a row or emailing anybody twice', async () => {
    await people('cut', 12);
    relay.intervene = keyRevokedAfter(5);
    const stopped = await send();
    expect(stopped.code).toBe(3);
    const { id } = await lastRun();
    expect(await lastRun()).toMatchObject({ state: 'interrupted', total: 12 });
    // Nobody is emailed before the last row has been accepted.
    expect(await relay.emails()).toEqual({});
    relay.intervene = () => undefined;
    expect((await resume()).code).toBe(0);
    expect(await lastRun()).toMatchObject({ id, state: 'finished', done: 12 });
    expect(await relay.emails()).toEqual(once('cut', 12));
  });

  it('is refused at another service', async () => {
    await people('away', 3);
    relay.intervene = keyRevokedAfter(1);
    await send();
    const elsewhere = await home.run(argv`bulk resume --yes --json`, {
      env: { ESIGN_BASE_URL: 'http://127.0.0.1:9/api/v1', ESIGN_API_KEY: 'sk_0123456789' },
    });
    expect(reportedError(elsewhere)).toMatchObject({ exitCode: 2, code: 'USAGE' });
  });
});

describe('a run with --first', () => {
  it('sends the first rows and is paused; each resume sends the next ones', async () => {
    await people('first', 7);
    expect((await send('--first', '2')).code).toBe(0);
    expect(await lastRun()).toMatchObject({ state: 'paused', total: 7, done: 2 });
    expect(await relay.emails()).toEqual(once('first', 2));
    const asked = await home.run`bulk resume --json`;
    expect(reportedError(asked)).toMatchObject({ exitCode: 2, code: 'USAGE' });
    expect((await resume('--first', '3')).code).toBe(0);
    expect(await relay.emails()).toEqual(once('first', 5));
    expect(await lastRun()).toMatchObject({ state: 'paused' });
    expect((await resume()).code).toBe(0);
    expect(await lastRun()).toMatchObject({ state: 'finished', done: 7 });
    expect(await relay.emails()).toEqual(once('first', 7));
  });

  it('finishes them and stops if it was interrupted during the first rows', async () => {
    await people('pause', 10);
    relay.intervene = keyRevokedAfter(2);
    await send('--first', '5');
    relay.intervene = () => undefined;
    expect(await lastRun()).toMatchObject({ state: 'interrupted' });
    expect((await resume()).code).toBe(0);
    expect(await lastRun()).toMatchObject({ state: 'paused', done: 5 });
    expect(await relay.emails()).toEqual(once('pause', 5));
    expect((await resume()).code).toBe(0);
    expect(await relay.emails()).toEqual(once('pause', 10));
  });

  it('counts only rows that are not sent yet', async () => {
    await people('next', 2);
    await send();
    await people('next', 6);
    expect((await send('--first', '2')).code).toBe(0);
    expect(await relay.emails()).toEqual(once('next', 4));
  });
});

describe('the commands after a run', () => {
  /** Runs each command that stderr suggests. Returns the commands without the ID of the run. */
  async function tryAll(stderr: string): Promise<string[]> {
    const commands = stderr.match(/(?<= )esign .*$/gm) ?? [];
    for (const one of commands) {
      const [, ...words] = one.split(' ');
      expect([one, (await home.run(words)).code]).toEqual([one, 0]);
    }
    return commands.map((one) => one.replaceAll(/run-[\w-]+/g, 'RUN'));
  }
  const start = async (...flags: string[]) =>
    (await home.run(argv`bulk create rows.csv --template tmpl_nda --yes ${flags}`)).stderr;

  it('run as they are shown, also where nothing can be asked', async () => {
    await people('after', 4);
    expect(await tryAll(await start('--send', '--first', '2'))).toEqual([
      'esign bulk status',
      'esign bulk resume RUN --yes',
      'esign envelopes cancel --run RUN --yes',
    ]);
    expect(await tryAll(await start('--send', '--again'))).toEqual([
      'esign bulk status',
      'esign bulk export --into rows.csv -o status.csv',
      'esign late --run last',
      'esign envelopes cancel --run RUN --yes',
    ]);
    expect(await tryAll(await start('--again'))).toEqual([
      'esign envelopes send --run RUN --yes',
      'esign envelopes cancel --run RUN --yes',
    ]);
  });

  it('suggest to send 200 rows only if more are left', async () => {
    await people('many', 202);
    expect(await start('--send', '--first', '1')).toMatch(/ {2}The next 200 +esign .* --first 200 --yes$/m);
    const { stderr } = await home.run`bulk resume --first 1 --yes`;
    expect(stderr).toContain('esign bulk resume run-');
    expect(stderr).not.toContain('--first');
  });
});

describe('before a list is sent', () => {
  const preview = async (...flags: string[]) => {
    const words = argv`bulk create rows.csv --template tmpl_lease --send --dry-run ${flags}`;
    const [text, value] = [await home.run(words), await home.object(words)];
    return { text: text.stdout, value };
  };
  /** Rows with a tenant, and a landlord who signs after them. */
  const leases = (...tenants: [address: string, name: string][]) => {
    const head =
      'signer1_email,signer1_name,signer1_role,signer2_email,signer2_name,signer2_role,signing_order';
    const rows = tenants.map(
      ([address, name]) => `${address},${name},Tenant,lars@landlord.example,Lars,Landlord,sequential\n`,
    );
    return writeFile(home.path('rows.csv'), `${head}\n${rows.join('')}`);
  };

  it('the emails of the first turn are counted apart from the later ones', async () => {
    await leases(['ann@tenants.example', 'Ann'], ['bo@tenants.example', 'Bo']);
    const { text, value } = await preview();
    expect(text).toContain('3 people, lars@landlord.example 2 times; 2 emails now, 2 later');
    expect(value).toMatchObject({ people: 3, signers: 4, emails: { now: 2, later: 2 } });
  });

  it('people who get several emails are named as the list writes them', async () => {
    const rows = ['Ann@Tenants.example', 'ann@tenants.example'].map(
      (email, n) => `${email},Ann,Tenant,${n}\n`,
    );
    await writeFile(home.path('rows.csv'), `email,name,role,meta.flat\n${rows.join('')}`);
    expect((await preview('--allow-missing-roles')).text).toContain('Ann@Tenants.example 2 times');
  });

  it('it shows who has signed or has it open, who moved, and unusual domains, without further requests', async () => {
    const people = ['ann', 'bo', 'cy', 'dee'].map((name): [string, string] => [
      `${name}@tenants.example`,
      name,
    ]);
    await leases(...people, ['eve@old.example', 'Eve Old']);
    const sent = await home.run`bulk create rows.csv --template tmpl_lease --send --yes --json`;
    const ids = rowsIn(sent.stdout).map(({ envelopeId }) => String(envelopeId));
    for (const id of ids.slice(0, 3)) await home.run`sandbox sign ${id}`;
    // The next month's list, with another subject.
    await leases(...people, ['eve@new.example', 'Eve Old'], ['fay@tenatns.example', 'Fay']);
    const look = async () => {
      relay.seen.length = 0;
      const shown = await preview('--subject', 'Again');
      return { ...shown, requests: relay.seen.length };
    };
    const elsewhere = { env: { ESIGN_NO_INDEX: '1' } };
    const words = argv`bulk create rows.csv --template tmpl_lease --send --dry-run --json --subject Again`;
    const without: unknown = JSON.parse((await home.run(words, elsewhere)).stdout);
    await home.run`find ann`;
    const { text, value } = await look();
    expect(value.known).toMatchObject({
      signed: { people: 3 },
      open: { people: 1 },
      moved: [{ line: 6, email: 'eve@new.example', otherEmail: 'eve@old.example', envelopeId: ids[4] }],
      domains: [{ line: 7, email: 'fay@tenatns.example', similar: 'tenants.example' }],
    });
    expect(without).toMatchObject({ known: value.known });
    expect(text).toContain('3 of these people have signed tmpl_lease');
    expect(text).toContain('1 of these people has tmpl_lease open');
    expect(text).toContain(`esign envelopes replace ${ids[4]} --signer eve@old.example=eve@new.example`);
    expect(text).toContain('did you mean tenants.example?');
    expect(text.replaceAll('\n          ', ' ')).toContain(
      'esign bulk roster rows.csv --template tmpl_lease --missing',
    );
    // After the last 30 days, the index still knows it, and nothing more is requested. What has expired is not open.
    await home.run`sandbox advance 40d`;
    const before = await look();
    expect(before.value.known).toMatchObject({ signed: { people: 3 }, open: { people: 0 }, moved: [] });
    await rm(home.path('state', 'index'), { recursive: true });
    const unknown = await look();
    expect(unknown.value.known).toMatchObject({ signed: { people: 0 }, domains: [], moved: [] });
    expect(unknown.requests).toBe(before.requests);
  });
});

describe('a run whose envelopes are canceled', () => {
  it('has ended for good, and the list can be sent again', async () => {
    await people('end', 6);
    await send('--first', '2');
    expect((await home.run`envelopes cancel --run last --yes --json`).code).toBe(0);
    expect(await lastRun()).toMatchObject({ state: 'cancelled', done: 2 });
    const resumed = await resume();
    expect(reportedError(resumed)).toMatchObject({ exitCode: 5, code: 'INVALID_STATE' });
    // Nobody is emailed twice, as long as --again is not given.
    const { code, stdout } = await send();
    expect([code, rowsIn(stdout).map(({ status }) => status)]).toEqual([
      0,
      ['EXISTING', 'EXISTING', 'SENT', 'SENT', 'SENT', 'SENT'],
    ]);
    expect(await relay.emails()).toEqual(once('end', 6));
  });

  it('also ends if nothing was created, or drafts are left', async () => {
    await people('none', 4);
    relay.intervene = keyRevokedAfter(0);
    await send();
    relay.intervene = () => undefined;
    await home.run`envelopes cancel --run last --yes`;
    expect(await lastRun()).toMatchObject({ state: 'cancelled' });
    expect((await send()).code).toBe(0);
    expect(await relay.emails()).toEqual(once('none', 4));
  });

  it('is not canceled while another process works on it, which would send more rows', async () => {
    await people('busy', 4);
    await send('--first', '2');
    const { id } = await lastRun();
    const release = await lockFile(home.path('state', 'runs', String(id), 'lock'), Error);
    // It ends as soon as the envelopes are selected.
    relay.intervene = ({ path }) => void (path.startsWith('/esign/envelopes') && release());
    const canceled = await home.run`envelopes cancel --run last --yes --json`;
    expect(reportedError(canceled)).toMatchObject({ exitCode: 2, run: id });
    await release();
    expect(await lastRun()).toMatchObject({ state: 'paused' });
  });
});

describe('the latest run', () => {
  it('is that of the account, whatever was started at another one', async () => {
    await people('here', 2);
    await send();
    const { id } = await lastRun();
    const service = new Home();
    const { baseUrl, apiKey } = await service.sandbox();
    const added = argv`profiles add other --base-url ${baseUrl} --api-key-file - --no-verify`;
    expect((await home.run(added, { input: apiKey })).code).toBe(0);
    await home.run`profiles use sandbox`;
    await people('there', 3);
    const flags = argv`--template tmpl_nda --send --yes --profile other`;
    const { code, stderr } = await home.run(argv`bulk create rows.csv ${flags}`);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/ esign late --run last --profile other$/m)]);
    const runs = await home.run`bulk list --json`;
    expect([runs.stdout.includes('there'), runs.stderr]).toEqual([
      false,
      expect.stringContaining('--profile other'),
    ]);
    expect(await home.json`bulk status`).toHaveLength(2);
    expect(await home.json`bulk status --profile other`).toHaveLength(3);
    expect(await home.json`late --run last --profile other`).toEqual([]);
    await home.run`envelopes cancel --run last --yes`;
    expect((await lastRun()).id).toBe(id);
    expect(await home.json`envelopes list --status SENT --profile other`).toHaveLength(3);
    await home.run`profiles remove other --yes`;
  });

  it('is not canceled while another one is starting', async () => {
    await people('first', 2);
    await send();
    const folder = home.path('state', 'runs', 'run-29990101-000000000-00000000');
    await mkdir(folder);
    const release = await lockFile(
      home.path('state', 'runs', 'run-29990101-000000000-00000000', 'lock'),
      Error,
    );
    const canceled = await home.run`envelopes cancel --run last --yes --json`;
    expect(reportedError(canceled)).toMatchObject({ exitCode: 2 });
    await release();
    await rm(folder, { recursive: true });
    expect((await home.run`envelopes cancel --run last --yes --json`).code).toBe(0);
  });
});

describe('a list that lags behind a run', () => {
  it('hides none of its envelopes from send and cancel', async () => {
    await people('lag', 3);
    await home.run(argv`bulk create rows.csv --template tmpl_nda --yes`, { env: { ESIGN_NO_INDEX: '1' } });
    relay.intervene = listsNothing;
    const sent = await home.run`envelopes send --run last --yes --json`;
    expect([sent.code, jsonLines(sent.stdout)]).toMatchObject([0, { length: 3 }]);
    expect(await relay.emails()).toEqual(once('lag', 3));
    const canceled = await home.run`envelopes cancel --run last --yes --json`;
    expect([canceled.code, jsonLines(canceled.stdout)]).toMatchObject([0, { length: 3 }]);
  });
});

describe('request IDs in a list', () => {
  const elsewhere = { env: { ESIGN_STATE_DIR: home.pathLater('other-state') } };
  const rows = async (prefix: string) => {
    const lines = [0, 1, 2].map((n) => `s${n}@example.com,S ${n},${prefix}-${n}\n`);
    await writeFile(home.path('rows.csv'), `email,name,request_id\n${lines.join('')}`);
  };
  const createOne = (id: string, signer: string, options: { env?: Record<string, string> } = elsewhere) =>
    home.object(
      argv`envelopes create --template tmpl_nda --signer ${signer} --request-id ${id} --send`,
      options,
    );

  it.each([
    ['another', 'far', elsewhere],
    ['this', 'near', {}],
  ])(
    'are refused before anything is sent if %s machine used them for other content',
    async (_, id, machine) => {
      const used = await createOne(`${id}-1`, 'Eve <eve@example.com>', machine);
      await rows(id);
      expect(reportedError(await send())).toMatchObject({
        exitCode: 2,
        details: { 'rows.csv:3 request_id': [expect.stringContaining(String(used.id))] },
      });
      expect(await relay.emails()).toEqual({ 'eve@example.com': 1 });
    },
  );

  it('are skipped if another machine sent them, refused if it canceled them, also with --again', async () => {
    const same = await createOne('m-0', 'S 0 <s0@example.com>');
    const canceled = await createOne('m-1', 'S 1 <s1@example.com>');
    await home.json(['envelopes', 'cancel', String(canceled.id), '--yes']);
    await rows('m');
    const { code, stdout } = await send('--again');
    expect(code).toBe(10);
    expect(rowsIn(stdout)).toMatchObject([
      { ok: true, status: 'EXISTING', envelopeId: same.id },
      { ok: false, error: { code: 'INVALID_STATE' } },
      { ok: true, status: 'SENT' },
    ]);
    expect(await relay.emails()).toEqual({
      's0@example.com': 1,
      's1@example.com': 1,
      's2@example.com': 1,
    });
  });
});
