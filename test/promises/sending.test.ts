import { writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { isList, isRecord, parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { Home, jsonLines, linesOf, reportedError } from '../support/cli.ts';
import { fakeService } from '../support/fake-service.ts';
import { json } from '../support/server.ts';

/* Send, cancel, and remind: which envelopes they act on, when they ask, and how they report each. */
const home = new Home();
beforeAll(async () => {
  await home.sandbox();
});

const ADA = 'Ada Lovelace <ada@example.com>';
const create = async (...args: string[]) =>
  String((await home.object`envelopes create --template tmpl_nda --signer ${ADA} ${args}`).id);
const statusOf = async (id: string) => (await home.object`envelopes get ${id}`).status;
const mailsTo = async (address: string) => {
  const mails = await home.json`sandbox mails --to ${address}`;
  return isList(mails) ? mails.length : 0;
};
const idsIn = (stdout: string) =>
  jsonLines(stdout)
    .filter(isRecord)
    .map(({ id }) => id)
    .sort();

let lists = 0;
/** Creates a run with different signers in each row. Returns its ID and the IDs of its envelopes in row order. */
async function runOf(rows: number, ...flags: string[]) {
  const name = `list${++lists}`;
  const lines = Array.from({ length: rows }, (_, n) => `${name}.${n}@example.com,Signer ${n}`);
  await writeFile(home.path(`${name}.csv`), `email,name\n${lines.join('\n')}\n`);
  const { stdout } = await home.run(argv`bulk create ${name}.csv --template tmpl_nda --yes --json ${flags}`);
  const done = linesOf(stdout).map(parseJson).filter(isRecord);
  const ids = done.toSorted((a, b) => Number(a.row) - Number(b.row)).map((row) => String(row.envelopeId));
  return { run: String(done[0]?.run), ids, name };
}

describe('one envelope', () => {
  it('is sent, reminded, and canceled, and printed with its new status', async () => {
    const id = await create();
    expect(await home.object`envelopes send ${id}`).toMatchObject({ id, status: 'SENT' });
    expect(await home.object`envelopes remind ${id}`).toMatchObject({ id, status: 'SENT' });
    const canceled = await home.run`envelopes cancel ${id} --reason changed`;
    expect([canceled.code, canceled.stdout]).toEqual([0, `${id}\tCANCELLED\n`]);
  });

  it('is not changed if it is in the wrong state (5) or unknown (4); the next command names it', async () => {
    const id = await create('--send');
    const again = await home.run`envelopes send ${id}`;
    expect([again.code, again.stderr]).toEqual([5, expect.stringContaining(`esign envelopes get ${id}`)]);
    const unknown = await home.run`envelopes send ${id}x --debug`;
    expect([unknown.code, unknown.stderr]).toEqual([4, expect.stringContaining(`Did you mean ${id}?`)]);
    // The suggestion costs no request.
    expect(unknown.stderr).not.toMatch(/ GET \S+\/envelopes\?/);
  });

  it('is canceled if DECLINED only with --even-if-declined, alone and among others', async () => {
    const [declined, open] = [await create('--send'), await create('--send')];
    await home.run`sandbox decline ${declined} --reason rent`;
    const alone = await home.run`envelopes cancel ${declined} --json`;
    expect([alone.code, reportedError(alone).code]).toEqual([5, 'INVALID_STATE']);
    const both = await home.run`envelopes cancel ${declined} ${open} --yes --json`;
    expect([both.code, jsonLines(both.stdout)]).toMatchObject([
      10,
      [
        { id: declined, ok: false, error: { code: 'INVALID_STATE' } },
        { id: open, ok: true, envelope: { status: 'CANCELLED' } },
      ],
    ]);
    const forced = await home.object`envelopes cancel ${declined} --even-if-declined`;
    expect(forced).toMatchObject({ status: 'CANCELLED' });
  });

  it('needs --yes to be canceled once somebody has signed', async () => {
    const id = await create('--signer', 'Bo <bo@example.com>', '--send');
    await home.run`sandbox sign ${id} --signer ada@example.com`;
    const refused = await home.run`envelopes cancel ${id} --json`;
    expect([refused.code, reportedError(refused)]).toMatchObject([
      2,
      { message: expect.stringContaining('Ada Lovelace has already signed') as unknown },
    ]);
    expect(await statusOf(id)).toBe('IN_PROGRESS');
    expect(await home.object`envelopes cancel ${id} --yes`).toMatchObject({ status: 'CANCELLED' });
  });
});

describe('several envelopes', () => {
  it('need --yes without a terminal; the error counts the people and names the service; a dry run needs none', async () => {
    const signers = ['ada', 'bo', 'ADA'].map((name) => ({ email: `${name}@example.com`, status: 'SENT' }));
    let status = 'DRAFT';
    const { server, env } = await fakeService((request, response) =>
      json(response, 200, { data: { id: request.path.split('/').at(-1), status, signers } }),
    );
    const { host } = new URL(env.ESIGN_BASE_URL ?? '');
    for (const [args, question] of [
      [['send', 'env_1', 'env_2'], `Send 2 envelopes to 2 people (${host})?`],
      [['cancel', '-'], `Cancel 2 envelopes for 2 people (${host})?`],
      [['remind', '-', '--no-input'], `Remind 2 people about 2 envelopes (${host})?`],
    ] as const) {
      const run = await home.run(argv`envelopes ${args} --json`, { env, input: 'env_1\nenv_2\n' });
      expect([run.code, reportedError(run)]).toMatchObject([
        2,
        {
          code: 'USAGE',
          message: expect.stringContaining(question) as unknown,
          hint: expect.stringContaining('--yes') as unknown,
        },
      ]);
      status = 'SENT';
    }
    const dry = await home.run(argv`envelopes remind env_1 env_2 --dry-run --json`, { env });
    expect(jsonLines(dry.stdout)).toMatchObject([{ dryRun: true, id: 'env_1' }, { id: 'env_2' }]);
    expect(server.seen.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('fail in a dry run with the same exit code, and nothing is done', async () => {
    const ids = [await create('--send'), await create()];
    const cases: [string[], number][] = [
      [ids.slice(0, 1), 5],
      [ids, 10],
    ];
    for (const [flags, code] of cases) {
      const [dry, real] = [
        await home.run(argv`envelopes send ${flags} --dry-run --json`),
        await home.run(argv`envelopes send ${flags} --yes --json`),
      ];
      expect([dry.code, real.code]).toEqual([code, code]);
      if (code === 10)
        expect(jsonLines(dry.stdout)).toMatchObject([
          { dryRun: true, id: ids[0], error: { code: 'INVALID_STATE' } },
          { dryRun: true, action: 'send', id: ids[1] },
        ]);
    }
  });

  it('are all tried; each has a row or a line, and then the totals; a failure is exit code 10', async () => {
    const ids = [await create('--send'), 'env_missing', await create()];
    const remind = await home.run`envelopes remind ${ids} --yes --json`;
    expect([remind.code, jsonLines(remind.stdout)]).toMatchObject([
      10,
      [
        { id: ids[0], ok: true, envelope: { status: 'SENT' } },
        { id: ids[1], ok: false, error: { code: 'NOT_FOUND', exitCode: 4 } },
        { id: ids[2], ok: false, error: { code: 'INVALID_STATE', exitCode: 5 } },
      ],
    ]);
    expect(jsonLines(remind.stderr)).toMatchObject([{ error: { code: 'PARTIAL', exitCode: 10 } }]);
    const cancel = await home.run`envelopes cancel ${ids} --yes --reason changed`;
    expect([cancel.code, cancel.stdout]).toEqual([10, `${ids[0]}\tCANCELLED\n${ids[2]}\tCANCELLED\n`]);
    expect(cancel.stderr).toContain('env_missing');
    expect(cancel.stderr).toContain('2 canceled, 1 failed.');
  });

  it('come from stdin with -, also as the first column of a list', async () => {
    const ids = [await create(), await create()];
    const dry = await home.run(argv`envelopes send - --dry-run`, { input: `${ids.join('\tDRAFT\n')}\n` });
    expect(dry.stdout).toBe(ids.map((id) => `would send ${id}\n`).join(''));
    const sent = await home.run(argv`envelopes send - --yes --json`, { input: ids.join('\n') });
    expect([sent.code, idsIn(sent.stdout)]).toEqual([0, ids.toSorted()]);
  });

  it.each(['cancel', 'send', 'remind'])(
    'may be none: an empty stdin is reported by %s, which succeeds',
    async (verb) => {
      const result = await home.run(['envelopes', verb, '-'], { input: '' });
      expect([result.code, result.stdout]).toEqual([0, '']);
      expect(result.stderr).toContain('stdin');
    },
  );
});

describe('the envelopes of a run', () => {
  it('are sent if they are drafts that may be sent', async () => {
    const { run, ids } = await runOf(3);
    await home.run`envelopes cancel ${ids[0] ?? ''}`;
    const { code, stdout, stderr } = await home.run`envelopes send --run ${run} --yes --json`;
    expect([code, idsIn(stdout)]).toEqual([0, ids.slice(1).sort()]);
    expect(stderr).toContain('1 CANCELLED');
    expect(await Promise.all(ids.map(statusOf))).toEqual(['CANCELLED', 'SENT', 'SENT']);
    await home.run`envelopes replace ${ids[1] ?? ''} --subject New --draft --yes`;
    const again = await home.run`envelopes send --run ${run} --yes`;
    expect([again.code, again.stdout]).toEqual([0, '']);
    // A draft that replaces an envelope belongs to `envelopes replace`, which cancels that one first.
    expect(again.stderr).toContain('left alone');
  });

  it('are sent and canceled only if the run created or sent them; the others are named', async () => {
    const name = `list${++lists}`;
    const write = (...rows: number[]) =>
      writeFile(
        home.path('own.csv'),
        `email,name\n${rows.map((n) => `${name}.${n}@example.com,Signer ${n}\n`).join('')}`,
      );
    const start = async () => {
      const { stdout } = await home.run`bulk create own.csv --template tmpl_nda --yes --json`;
      return linesOf(stdout).map(parseJson).filter(isRecord);
    };
    await write(0, 1);
    const [first] = await start();
    await write(0, 1, 2);
    const [, , own] = await start();
    const [old, run] = [String(first?.run), String(own?.run)];
    for (const [verb, status] of [
      ['send', 'SENT'],
      ['cancel', 'CANCELLED'],
    ] as const) {
      const { code, stdout, stderr } = await home.run`envelopes ${verb} --run ${run} --yes --json`;
      expect([code, jsonLines(stdout)]).toMatchObject([0, [{ id: own?.envelopeId, envelope: { status } }]]);
      expect(stderr).toMatch(new RegExp(`2 of the 3 envelopes .* ${old}`));
    }
    // What shows or reminds covers all rows.
    expect(await home.json`envelopes list --run ${run}`).toHaveLength(3);
    expect(await home.json`bulk status ${run}`).toHaveLength(3);
  });

  it('are sent once per request, even if an interrupted run left a second draft', async () => {
    const { run, ids } = await runOf(2);
    const { templateId, metadata } = await home.object`envelopes get ${ids[1] ?? ''}`;
    const signers = [{ email: 'second@example.com', name: 'Second' }];
    await writeFile(home.path('second.json'), JSON.stringify({ templateId, metadata, signers }));
    await home.json`api POST /esign/envelopes --body second.json`;
    const { code, stdout, stderr } = await home.run`envelopes send --run ${run} --yes --json`;
    expect([code, idsIn(stdout)]).toEqual([0, [...ids].sort()]);
    expect(stderr).toContain('1 second draft of a request');
    expect(await mailsTo('second@example.com')).toBe(0);
  });

  it('are reminded if they are open; --signer limits the reminder', async () => {
    const { run, ids, name } = await runOf(3, '--send');
    await home.run`sandbox sign ${ids[0] ?? ''}`;
    const { code, stdout, stderr } = await home.run`envelopes remind --run ${run} --yes --json`;
    expect([code, idsIn(stdout)]).toEqual([0, ids.slice(1).sort()]);
    expect(stderr).toContain('1 COMPLETED');
    const flags = argv`--run ${run} --signer ${name}.2@example.com --yes --json`;
    const one = await home.run(argv`envelopes remind ${flags}`);
    expect([one.code, idsIn(one.stdout)]).toEqual([0, [ids[2]]]);
    expect(await Promise.all([1, 2].map((n) => mailsTo(`${name}.${n}@example.com`)))).toEqual([2, 3]);
  });

  it('are canceled unless they have ended', async () => {
    const { run, ids } = await runOf(3, '--send');
    await home.run`sandbox sign ${ids[0] ?? ''}`;
    await home.run`sandbox decline ${ids[1] ?? ''} --reason no`;
    const dry = await home.run`envelopes cancel --run ${run} --dry-run --json`;
    expect([dry.code, idsIn(dry.stdout)]).toEqual([0, [ids[2]]]);
    expect((await home.run`envelopes cancel --run ${run}`).code).toBe(0);
    expect(await Promise.all(ids.map(statusOf))).toEqual(['COMPLETED', 'DECLINED', 'CANCELLED']);
  });
});

it('remind --all reminds about every open envelope of the account, and succeeds without any', async () => {
  const other = new Home();
  await other.sandbox();
  const none = await other.run`envelopes remind --all --yes`;
  expect([none.code, none.stdout]).toEqual([0, '']);
  const made = async (...args: string[]) =>
    String((await other.object`envelopes create --template tmpl_nda --signer ${ADA} ${args}`).id);
  const open = [await made('--send'), await made('--signer', 'Bo <bo@example.com>', '--send')];
  await other.run`sandbox sign ${open[1] ?? ''} --signer ada@example.com`;
  await made();
  const { code, stdout } = await other.run`envelopes remind --all --yes --json`;
  expect([code, idsIn(stdout)]).toEqual([0, open.toSorted()]);
});

it.each(['send', 'remind', 'cancel', 'watch', 'download'])(
  'takes exactly one of IDs, stdin, and --run, and no filters: %s',
  async (verb) => {
    const takesAll = ['remind', 'download'].includes(verb);
    const mixed = [[], ['env_1', '--run', 'last'], ['-', '--run', 'last'], ['env_1', '-']];
    const withAll = [['env_1', '--all'], ['--all', '--run', 'last'], ...(takesAll ? [] : [['--all']])];
    for (const words of [...mixed, ...withAll, ['--template', 'tmpl_nda']])
      expect([words, (await home.run(['envelopes', verb, ...words], { input: 'env_1\n' })).code]).toEqual([
        words,
        2,
      ]);
    expect((await home.run(['envelopes', verb, '--run', 'run-x'])).code).toBe(4);
  },
);

describe('a role of the template without a signer', () => {
  const LEASE = ['envelopes', 'create', '--template', 'tmpl_lease', '--allow-missing-roles'];
  const draft = async (...args: string[]) =>
    String((await home.object([...LEASE, '--signer', 'Ada <ada@example.com>;role=Tenant', ...args])).id);

  it('stops send (2) unless --allow-missing-roles is given', async () => {
    const id = await draft();
    for (const more of [[], ['--dry-run']]) {
      const run = await home.run`envelopes send ${id} ${more} --json`;
      expect([run.code, reportedError(run).message]).toEqual([2, expect.stringContaining('Landlord')]);
    }
    expect(await statusOf(id)).toBe('DRAFT');
    expect((await home.run`envelopes send ${id} --allow-missing-roles`).code).toBe(0);
    expect(await statusOf(id)).toBe('SENT');
  });

  it('leaves only the incomplete ones unsent among several', async () => {
    const ids = [await draft(), await draft('--signer', 'Bo <bo@example.com>;role=Landlord')];
    const run = await home.run`envelopes send ${ids} --yes --json`;
    expect([run.code, jsonLines(run.stdout)]).toMatchObject([
      10,
      [
        { id: ids[0], ok: false },
        { id: ids[1], ok: true },
      ],
    ]);
    expect(await Promise.all(ids.map(statusOf))).toEqual(['DRAFT', 'SENT']);
  });
});
