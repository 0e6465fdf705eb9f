import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isList, isRecord, parseJson } from '../../src/kernel/json.ts';
import { rowsOf } from '../support/bulk-check.ts';
import { Home, type Sandbox } from '../support/cli.ts';
import { startFaultyProxy } from '../support/faulty-proxy.ts';
import { json } from '../support/server.ts';
import { answerPage, fakeService } from './fake-service.ts';

const home = new Home();
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await home.sandbox();
});
afterAll(() => home.close());

const rehearse = (file: string, ...args: string[]) =>
  home.run(['bulk', 'rehearse', file, '--template', 'tmpl_nda', '--json', ...args]);

it('shows what a list would do, the same for the same seed, and leaves no run or envelope behind', async () => {
  await writeFile(home.path('rows.csv'), rowsOf(20));
  const first = await rehearse('rows.csv', '--random-seed', '7');
  expect(first.code).toBe(0);
  const result = parseJson(first.stdout);
  expect(result).toMatchObject({
    envelopes: 20,
    signers: 20,
    emails: 20,
    requests: 40,
    seconds: 0,
    failed: [],
    basis: 'default',
    plan: null,
  });
  expect(result).toHaveProperty('expected.completed');
  const second = await rehearse('rows.csv', '--random-seed', '7', '--send', '--yes', '--dry-run');
  expect(isRecord(result)).toBe(true);
  if (isRecord(result)) {
    const { expected, late, emails, caveats } = result;
    expect(parseJson(second.stdout)).toMatchObject({ expected, late, emails, caveats });
  }

  expect(await home.json`bulk list --json`).toEqual([]);
  expect(await home.json`envelopes list --json`).toEqual([]);
});

it('needs no proxy for the service it starts', async () => {
  await writeFile(home.path('one.csv'), rowsOf(1));
  const env = { HTTP_PROXY: 'http://127.0.0.1:1', NO_PROXY: new URL(sandbox.baseUrl).host };
  const words = ['bulk', 'rehearse', 'one.csv', '--template', 'tmpl_nda', '--json'];
  expect(await home.run(words, { env })).toMatchObject({ code: 0 });
});

it('lists the rows that would be refused, and rehearses the others', async () => {
  const text =
    'email,role\nada@example.com,Signer\nnot an address,Signer\nbo@example.com,Pilot\ncy@example.com,\n';
  await writeFile(home.path('bad.csv'), text);
  const { code, stdout } = await rehearse('bad.csv');
  expect(code).toBe(10);
  expect(parseJson(stdout)).toMatchObject({ envelopes: 2, failed: [{ line: 3 }, { line: 4 }] });
});

it('fails if a guard would refuse the list or its first wave, and logs no write', async () => {
  await writeFile(home.path('guarded.csv'), rowsOf(5));
  await home.run`profiles edit sandbox --max-emails 2`;
  const codes: (number | null)[] = [];
  for (const flags of [[], ['--send', '--waves', '3,rest'], ['--send', '--waves', '2,rest']])
    codes.push((await rehearse('guarded.csv', ...flags)).code);
  await home.run`profiles edit sandbox --no-max-emails`;
  expect(codes).toEqual([10, 10, 0]);
  const log = await home.json`log`;
  expect(isList(log) && log.filter((one) => isRecord(one) && one.command === 'bulk rehearse')).toEqual([]);
});

it('refuses a file without a row', async () => {
  await writeFile(home.path('empty.csv'), 'email\n');
  expect((await rehearse('empty.csv')).code).toBe(2);
});

it('reads only with GET, the templates last, and needs no network afterwards', async () => {
  const requests: { method: string; path: string }[] = [];
  let isGone = false;
  const network = await startFaultyProxy({
    target: new URL(sandbox.baseUrl).origin,
    seed: 1,
    faultsFor: (request) => {
      requests.push(request);
      if (isGone) return { reset: 1 };
      isGone = request.path.includes('/templates/');
      return {};
    },
  });
  try {
    await writeFile(home.path('rows.csv'), rowsOf(3));
    const env = { ESIGN_BASE_URL: `${network.origin}/api/v1`, ESIGN_API_KEY: sandbox.apiKey };
    const { code, stdout } = await home.run(
      ['bulk', 'rehearse', 'rows.csv', '--template', 'tmpl_nda', '--json'],
      { env },
    );
    expect(code).toBe(0);
    expect(parseJson(stdout)).toMatchObject({ envelopes: 3, realRequests: { GET: requests.length } });
    expect(new Set(requests.map(({ method }) => method))).toEqual(new Set(['GET']));
    expect(requests.at(-1)?.path).toContain('/templates/tmpl_nda');
  } finally {
    await network.close();
  }
});

it('writes a page that loads nothing and escapes the list', async () => {
  const rows =
    'email,name,subject,message\nada@example.com,Ada <b>,Lease <script>alert(1)</script>,"Dear Ada,\nsign & return"\nbad,Bo,x,y\n';
  await writeFile(home.path('page.csv'), rows);
  const { code } = await rehearse('page.csv', '--html', 'page.html');
  expect(code).toBe(10);
  const page = await readFile(home.path('page.html'), 'utf8');
  expect(page).toContain("default-src 'none'");
  expect(page).not.toMatch(/<script|<b>|(?:src|href)=|url\(/);
  for (const part of [
    'Lease &lt;script&gt;',
    'sign &amp; return',
    'ada@example.com',
    '<td>4</td>',
    'STAND-IN',
  ])
    expect(page).toContain(part);
});

it('leaves out what exists, and lists what bulk create would refuse', async () => {
  const shop = new Home();
  try {
    await shop.sandbox();
    const create = (name: string, ...args: string[]) =>
      shop.run(['bulk', 'create', name, '--template', 'tmpl_nda', '--send', '--yes', ...args]);
    await writeFile(shop.path('sent.csv'), rowsOf(2));
    expect((await create('sent.csv')).code).toBe(0);
    await writeFile(shop.path('used.csv'), 'email,request_id\nold@example.com,id-1\n');
    expect((await create('used.csv')).code).toBe(0);
    await writeFile(shop.path('begun.csv'), 'email\ncy@example.com\ndi@example.com\n');
    expect((await create('begun.csv', '--max-requests', '2')).code).toBe(10);
    const rows = `${rowsOf(2).replaceAll('\n', ',\n').replace('meta.n,', 'meta.n,request_id')}new@example.com,New,9,id-1\ndi@example.com,,,\n`;
    await writeFile(shop.path('rows.csv'), rows);
    const { code, stdout } = await shop.run`bulk rehearse rows.csv --template tmpl_nda --json`;
    expect(code).toBe(10);
    expect(parseJson(stdout)).toMatchObject({
      envelopes: 0,
      skipped: 2,
      failed: [
        { line: 4, error: { message: expect.stringContaining('id-1') as unknown } },
        { line: 5, error: { message: expect.stringContaining('run-') as unknown } },
      ],
    });
    const signed = await shop.run`bulk rehearse used.csv --template tmpl_nda --again --skip-existing --json`;
    expect(parseJson(signed.stdout)).toMatchObject({ envelopes: 0, skipped: 1 });
  } finally {
    await shop.close();
  }
});

it('counts the requests of a small rate window in simulated time', async () => {
  const shop = new Home();
  try {
    await shop.sandbox(['--rate-limit', '100/15m']);
    await writeFile(shop.path('rows.csv'), rowsOf(60));
    const { stdout } = await shop.run`bulk rehearse rows.csv --template tmpl_nda --reserve 0 --json`;
    const result = parseJson(stdout);
    expect(result).toMatchObject({ envelopes: 60, requests: 120 });
    expect(isRecord(result) && Number(result.seconds)).toBeGreaterThan(0);
  } finally {
    await shop.close();
  }
});

it('uses the roles of the list if the service shows none', async () => {
  await writeFile(home.path('roles.csv'), 'email,role\nada@example.com,Pilot\nbo@example.com,Pilot\n');
  expect((await rehearse('roles.csv')).code).toBe(10);
  await home.run`sandbox choices template-roles=hidden`;
  try {
    const { code, stdout } = await rehearse('roles.csv');
    expect(code).toBe(0);
    expect(parseJson(stdout)).toMatchObject({
      envelopes: 2,
      failed: [],
      caveats: expect.arrayContaining(['roles-unknown']) as unknown,
    });
  } finally {
    await home.run`sandbox choices template-roles=shown`;
  }
});

it('exits with the code of a template that cannot be read, without a plan or a page', async () => {
  const service = await fakeService((request, response) =>
    request.path.includes('/templates/')
      ? json(response, 403, { error: { code: 'FORBIDDEN', message: 'No access' } })
      : answerPage(request, response, 0, () => ({})),
  );
  try {
    await writeFile(home.path('rows.csv'), rowsOf(2));
    const words = [
      'bulk',
      'rehearse',
      'rows.csv',
      '--template',
      'tmpl_x',
      '--plan',
      'no.json',
      '--html',
      'no.html',
    ];
    expect((await home.run(words, { env: service.env })).code).toBe(3);
    expect(new Set(service.server.seen.map(({ method }) => method))).toEqual(new Set(['GET']));
    expect(existsSync(home.path('no.json')) || existsSync(home.path('no.html'))).toBe(false);
  } finally {
    await service.server.close();
  }
});
