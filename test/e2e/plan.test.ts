import { readFile, rm, writeFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isList, isRecord, parseJson } from '../../src/kernel/json.ts';
import { rowsOf } from '../support/bulk-check.ts';
import { Home, type Sandbox } from '../support/cli.ts';
import { startFaultyProxy } from '../support/faulty-proxy.ts';

let home: Home;
let sandbox: Sandbox;
async function open(): Promise<void> {
  home = new Home();
  sandbox = await home.sandbox();
}
async function rehearseThree(): Promise<void> {
  await writeFile(home.path('rows.csv'), rowsOf(3));
  await rm(home.path('plan.json'), { force: true });
  expect((await rehearse()).code).toBe(0);
}
const close = () => home.close();

const rehearse = (...args: string[]) =>
  home.run([
    'bulk',
    'rehearse',
    'rows.csv',
    '--template',
    'tmpl_nda',
    '--plan',
    'plan.json',
    '--json',
    ...args,
  ]);
const create = (args: readonly string[] = [], env: Record<string, string> = {}) =>
  home.run(
    [
      'bulk',
      'create',
      'rows.csv',
      '--template',
      'tmpl_nda',
      '--plan',
      'plan.json',
      '--send',
      '--yes',
      ...args,
    ],
    { env },
  );
const envelopes = () => home.json`envelopes list --json`;

async function changePlan(change: (plan: Record<string, unknown>) => void): Promise<void> {
  const plan = parseJson(await readFile(home.path('plan.json'), 'utf8'));
  if (!isRecord(plan)) throw new Error('the plan is not an object');
  change(plan);
  await writeFile(home.path('plan.json'), JSON.stringify(plan));
}

const DAY_OLD = new Date(Date.now() - 25 * 3_600_000).toISOString();

function changeTemplate(plan: Record<string, unknown>): void {
  const [template] = isList(plan.templates) ? plan.templates : [];
  if (isRecord(template)) template.updatedAt = '2020-01-01T00:00:00.000Z';
}

const OWN = { id: 'tmpl_own', name: 'Own', roles: ['Signer'] };
const fieldsNamed = (label: string) => [{ fieldId: 'f1', type: 'TEXT', label, required: true, page: 1 }];

async function seed(content: object): Promise<Record<string, unknown>> {
  await writeFile(home.path('seed.json'), JSON.stringify(content));
  return home.object`sandbox seed seed.json`;
}

const planned = (words: string, env: Record<string, string> = {}) =>
  home.run([...words.split(' '), 'rows.csv', '--template', 'tmpl_own', '--plan', 'own.json', '--json'], {
    env,
  });

describe('a plan that does not apply', () => {
  beforeAll(open);
  beforeEach(rehearseThree);
  afterAll(close);

  it.each<[string, RegExp, () => Promise<unknown>, string[]?]>([
    [
      'a changed row',
      /rows have changed/,
      () => writeFile(home.path('rows.csv'), rowsOf(3).replace('Signer 1', 'Ada')),
      [],
    ],
    ['another flag', /--subject/, () => Promise.resolve(), ['--subject', 'Sign']],
    ['a changed template', /Template tmpl_nda/, () => changePlan((plan) => changeTemplate(plan)), []],
    [
      'another base URL',
      /base URL/,
      () => changePlan((plan) => Object.assign(plan, { baseUrl: 'https://x.y' })),
    ],
    ['another key', /API key/, () => changePlan((plan) => Object.assign(plan, { key: '0000000000000000' }))],
    ['an old plan', /--plan-age/, () => changePlan((plan) => Object.assign(plan, { createdAt: DAY_OLD }))],
    ['a malformed plan', /not a plan/, () => writeFile(home.path('plan.json'), '{"format":"esign-plan/1"}')],
  ])('refuses %s and sends nothing', async (_name, difference, change, args = []) => {
    await change();
    const { code, stderr } = await create(args);
    expect(code).toBe(2);
    expect(stderr).toMatch(difference);
    expect(await envelopes()).toEqual([]);
  });

  it('lists every difference', async () => {
    await changePlan((plan) => {
      changeTemplate(plan);
      Object.assign(plan, { createdAt: DAY_OLD, key: '0000000000000000' });
    });
    await writeFile(home.path('rows.csv'), rowsOf(4));
    const { code, stderr } = await create(['--one-step', '--skip-existing'], {
      ESIGN_WEBHOOK_SECRET: 'whsec-test',
    });
    expect(code).toBe(2);
    for (const part of [
      '--plan-age',
      'rows',
      '--one-step',
      '--skip-existing',
      'tmpl_nda',
      'API key',
      'webhook secret',
    ])
      expect(stderr).toContain(part);
  });

  it("doesn't replace a file that is not a plan", async () => {
    const { code } = await home.run`bulk rehearse rows.csv --template tmpl_nda --plan rows.csv`;
    expect(code).toBe(2);
    expect(await readFile(home.path('rows.csv'), 'utf8')).toBe(rowsOf(3));
  });

  it('refuses a template whose field really changed', async () => {
    await seed({ templates: [{ ...OWN, fields: fieldsNamed('Rent') }] });
    expect((await planned('bulk rehearse')).code).toBe(0);
    await seed({ templates: [{ ...OWN, fields: fieldsNamed('Yearly rent') }] });
    const { code, stderr } = await planned('bulk create --send --yes');
    expect(code).toBe(2);
    expect(stderr).toMatch(/Field f1 of template tmpl_own/);
    expect(await envelopes()).toEqual([]);
  });

  it('refuses another key of the same account, and the same key at another address, without a POST', async () => {
    await seed({ templates: [{ ...OWN, fields: fieldsNamed('Rent') }] });
    const methods: (string | undefined)[] = [];
    const network = await startFaultyProxy({
      target: new URL(sandbox.baseUrl).origin,
      seed: 1,
      faultsFor: ({ method }) => {
        methods.push(method);
        return {};
      },
    });
    try {
      const { keys } = await seed({ keys: [{ scopes: ['esign:read', 'esign:write'] }] });
      const second = isList(keys) && isRecord(keys[0]) ? String(keys[0].key) : '';
      expect((await planned('bulk rehearse')).code).toBe(0);
      const env = { ESIGN_BASE_URL: `${network.origin}/api/v1`, ESIGN_API_KEY: second };
      const { code, stderr } = await planned('bulk create --send --yes', env);
      expect(code).toBe(2);
      expect(stderr).toMatch(/base URL is/);
      expect(stderr).toMatch(/API key is not/);
      expect(new Set(methods)).toEqual(new Set(['GET']));
      expect(await envelopes()).toEqual([]);
    } finally {
      await network.close();
    }
  });
});

describe('a plan that is used', () => {
  beforeEach(async () => {
    await open();
    await rehearseThree();
  });
  afterEach(close);

  it('sends what was rehearsed, at another pace', async () => {
    const { stdout } = await rehearse();
    expect(parseJson(stdout)).toMatchObject({ plan: 'plan.json' });
    const text = await readFile(home.path('plan.json'), 'utf8');
    expect(text).not.toContain(sandbox.apiKey);
    expect(parseJson(text)).toMatchObject({
      format: 'esign-plan/1',
      counts: { rows: 3, envelopes: 3, failed: 0 },
    });
    await changePlan((plan) => Object.assign(plan, { createdAt: DAY_OLD }));
    const { code } = await create(['--concurrency', '2', '--reserve', '20%', '--plan-age', '2d']);
    expect(code).toBe(0);
    expect(await envelopes()).toHaveLength(3);
  });

  it("counts the age of a plan by the service's clock", async () => {
    await home.run`sandbox advance 25h`;
    const late = await create();
    expect([late.code, late.stderr]).toEqual([2, expect.stringContaining('--plan-age')]);
    expect((await rehearse()).code).toBe(0);
    expect((await create(['--dry-run'])).code).toBe(0);
  });
});
