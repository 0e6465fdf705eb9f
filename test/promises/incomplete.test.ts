import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/kernel/json.ts';
import { COMMAND, Home, jsonLines, reportedError } from '../support/cli.ts';
import { openScreen, type Screen } from '../support/pty.ts';

/* Incomplete contracts are detected before they are sent. */
const home = new Home();
beforeAll(async () => {
  await home.sandbox();
});
afterAll(() => home.close());

const TENANT = 'Ada <ada@example.com>;role=Tenant';
const LANDLORD = 'Bo <bo@example.com>;role=Landlord';
const CREATE = ['envelopes', 'create', '--template', 'tmpl_lease'];
const signers = (...list: string[]) => list.flatMap((one) => ['--signer', one]);
const count = async () => Number((await home.run`envelopes list --all -q`).stdout.split('\n').length);
const open = (args: string[]): Screen => {
  const [file, ...before] = COMMAND;
  return openScreen(file, [...before, ...args], { env: home.env, columns: 100 });
};
const draft = async (...extra: string[]) =>
  String((await home.object([...CREATE, ...signers(TENANT), '--allow-missing-roles', ...extra])).id);
const statusOf = async (id: string) => (await home.object`envelopes get ${id}`).status;

describe('create', () => {
  it('exits with 2 and creates nothing if a role of the template has no signer', async () => {
    const before = await count();
    for (const extra of [[], ['--send'], ['--dry-run'], ['--request-id', 'lease-1']]) {
      const run = await home.run([...CREATE, ...signers(TENANT), ...extra, '--json']);
      expect(run.code).toBe(2);
      expect(reportedError(run)).toMatchObject({ code: 'USAGE', message: 'Nobody signs as Landlord.' });
      expect(reportedError(run).hint).toContain('--allow-missing-roles');
    }
    expect(await count()).toBe(before);
  });

  it('continues with --allow-missing-roles, and reports it', async () => {
    const run = await home.run([...CREATE, ...signers(TENANT), '--allow-missing-roles']);
    expect([run.code, run.stderr]).toEqual([0, 'Nobody signs as Landlord.\n']);
  });

  it.each([
    [
      'an address twice',
      ['Ada <ada@example.com>;role=Tenant', 'Ada <ADA@example.com>;role=Landlord'],
      ['ada@example.com', 'twice'],
    ],
    [
      'a role twice',
      [TENANT, 'Cy <cy@example.com>;role=Tenant', LANDLORD],
      ['ada@example.com', 'cy@example.com', 'Tenant'],
    ],
  ])('reports %s', async (_, list, facts) => {
    const run = await home.run([...CREATE, ...signers(...list)]);
    expect([run.code, run.stderr.split('\n')]).toEqual([0, [expect.any(String), '']]);
    for (const fact of facts) expect(run.stderr).toContain(fact);
  });

  it('checks the template and the names of its roles with --dry-run', async () => {
    const args = [
      'envelopes',
      'create',
      '--dry-run',
      '--json',
      ...signers('Ada <ada@example.com>;role=Tennant'),
    ];
    const wrongId = await home.run`${args} --template tmpl_leas`;
    expect(wrongId.code).toBe(4);
    expect(reportedError(wrongId)).toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('tmpl_leas:') as unknown,
      hint: expect.stringContaining('Did you mean tmpl_lease?') as unknown,
    });
    const wrongRole = await home.run`${args} --template tmpl_lease`;
    expect([wrongRole.code, reportedError(wrongRole).message]).toEqual([
      2,
      expect.stringContaining('did you mean Tenant?'),
    ]);
  });

  it('asks on a terminal, with no as the default', async () => {
    const before = await count();
    const screen = open([...CREATE, ...signers(TENANT), '--send']);
    await screen.shows('Create and send it anyway?');
    expect(screen.text()).toContain('Nobody signs as Landlord.');
    screen.type('\r');
    expect((await screen.ended).code).toBe(2);
    expect(await count()).toBe(before);
    const again = open([...CREATE, ...signers(TENANT)]);
    await again.shows('Create it anyway?');
    again.type('y\r');
    expect((await again.ended).code).toBe(0);
    expect(await count()).toBe(before + 1);
  });

  it('includes the problem in the preview', async () => {
    const screen = open([
      'envelopes',
      'create',
      ...signers(TENANT),
      '--subject',
      's',
      '--message',
      'm',
      '--signing-order',
      'parallel',
    ]);
    await screen.shows('? Template:');
    screen.type('lease');
    await screen.shows('❯ Residential lease');
    screen.type('\r');
    await screen.shows('? What next?');
    expect(screen.text()).toContain('! Nobody signs as Landlord.');
    screen.type('\u0003');
    await screen.ended;
  });
});

describe('send', () => {
  it('exits with 2 and emails nobody if a role has no signer', async () => {
    const id = await draft();
    const run = await home.run`envelopes send ${id} --json`;
    expect([run.code, reportedError(run).message]).toEqual([2, 'Nobody signs as Landlord.']);
    expect(await statusOf(id)).toBe('DRAFT');
    expect((await home.run`envelopes send ${id} --allow-missing-roles`).code).toBe(0);
    expect(await statusOf(id)).toBe('SENT');
  });

  it('reports the same, and the affected envelopes, with --dry-run', async () => {
    const ids = [await draft(), String((await home.object([...CREATE, ...signers(TENANT, LANDLORD)])).id)];
    const one = await home.run`envelopes send ${ids[0] ?? ''} --dry-run --json`;
    expect([one.code, reportedError(one).message]).toEqual([2, 'Nobody signs as Landlord.']);
    const several = await home.run`envelopes send ${ids} --dry-run`;
    expect(several).toMatchObject({ code: 0, stderr: `${ids[0]}: Nobody signs as Landlord.\n` });
  });

  it('skips only the incomplete ones among several', async () => {
    const whole = String((await home.object([...CREATE, ...signers(TENANT, LANDLORD)])).id);
    const ids = [await draft(), whole];
    const run = await home.run`envelopes send ${ids} --yes --json`;
    expect(run.code).toBe(10);
    expect(jsonLines(run.stdout).map((row) => isRecord(row) && [row.id, row.ok])).toEqual([
      [ids[0], false],
      [ids[1], true],
    ]);
    expect(await Promise.all(ids.map(statusOf))).toEqual(['DRAFT', 'SENT']);
  });

  it('asks on a terminal', async () => {
    const id = await draft();
    const screen = open(['envelopes', 'send', id]);
    await screen.shows('Send it anyway?');
    screen.type('\r');
    expect([(await screen.ended).code, await statusOf(id)]).toEqual([2, 'DRAFT']);
  });
});

describe('bulk create', () => {
  const given = async (name: string, text: string) => {
    await writeFile(home.path(name), text);
    return ['bulk', 'create', name, '--template', 'tmpl_lease'];
  };
  const HEAD = 'signer1_email,signer1_role,signer2_email,signer2_role';

  it('checks each row, and reports the problem with its rows and count', async () => {
    const rows = ['a@b.c,Tenant,d@e.f,Landlord', 'g@h.i,Tenant,,', 'j@k.l,Tenant,,', 'm@n.o,,p@q.r,'];
    const args = await given('casts.csv', `${HEAD}\n${rows.join('\n')}\n`);
    const run = await home.run`${args} --json`;
    expect(run.code).toBe(2);
    expect(String(reportedError(run).message).split('\n').slice(1)).toEqual([
      expect.stringMatching(/^casts\.csv:3: .* Landlord .*1 more row.* --allow-missing-roles/),
    ]);
    const allowed = await home.run`${args} --allow-missing-roles --dry-run`;
    expect([allowed.code, allowed.stderr]).toEqual([
      0,
      expect.stringContaining('casts.csv:3: nobody signs as Landlord'),
    ]);
  });

  it('warns about duplicate addresses and roles in a row', async () => {
    const args = await given(
      'twice.csv',
      `${HEAD}\na@b.c,Tenant,A@b.c,Landlord\nd@e.f,Tenant,g@h.i,Tenant\n`,
    );
    const run = await home.run`${args} --dry-run --allow-missing-roles`;
    expect(run.stderr).toMatch(/^twice\.csv:2: a@b\.c .*twice/m);
    expect(run.stderr).toMatch(/^twice\.csv:3: d@e\.f .*g@h\.i .*Tenant/m);
  });

  it('asks on a terminal, even for a single row', async () => {
    const before = await count();
    const args = await given('one.csv', `${HEAD}\na@b.c,Tenant,,\n`);
    const screen = openScreen(COMMAND[0], [...COMMAND.slice(1), ...args.with(2, home.path('one.csv'))], {
      env: home.env,
      columns: 200,
    });
    await screen.shows('Create 1 draft?');
    expect(screen.text()).toContain('nobody signs as Landlord');
    screen.type('\r');
    expect([(await screen.ended).code, await count()]).toEqual([2, before]);
  });
});
