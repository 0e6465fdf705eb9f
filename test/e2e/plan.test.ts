import { readFile, rm, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { isList, isRecord, parseJson } from '../../src/kernel/json.ts';
import { rowsOf } from '../support/bulk-check.ts';
import { Home, type Sandbox } from '../support/cli.ts';

const home = new Home();
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await home.sandbox();
});
beforeEach(async () => {
  await writeFile(home.path('rows.csv'), rowsOf(3));
  await rm(home.path('plan.json'), { force: true });
  expect((await rehearse()).code).toBe(0);
});
afterAll(() => home.close());

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

const DAY_OLD = new Date(Date.now() - 25 * 3_600_000).toISOString();

function changeTemplate(plan: Record<string, unknown>): void {
  const [template] = isList(plan.templates) ? plan.templates : [];
  if (isRecord(template)) template.updatedAt = '2020-01-01T00:00:00.000Z';
}

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
