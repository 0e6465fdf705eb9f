import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { isList, parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { COMMAND, Home, linesOf } from '../support/cli.ts';
import { eventually } from '../support/eventually.ts';
import { openScreen } from '../support/pty.ts';

/* For questions on the phone: find an envelope by any part of it. */
let home: Home;
const ROWS = [
  'signer1_email,signer1_name,signer2_email,signer2_name,subject,meta.deal',
  'lr@example.com,Łukasz Řehoř,ada@example.org,Ada Lovelace,Contract 1377,D-1',
  'lr@example.com,Łukasz Řehoř,bo@example.org,Bo,Contract 1378,D-2',
  'zoe@example.com,Zoë,bo@example.org,Bo,Contract 1379,D-3',
  '',
].join('\n');
/** The IDs in the order of the file. */
let ids: string[] = [];

async function setUp(): Promise<void> {
  home = new Home();
  await home.sandbox();
  await writeFile(home.path('rows.csv'), ROWS);
  const create = ['bulk', 'create', home.path('rows.csv'), '--template', 'tmpl_nda', '--send', '--yes'];
  expect((await home.run(create)).code).toBe(0);
  ids = linesOf((await home.run`envelopes list --sort subject -q`).stdout);
}
const tearDown = () => home.close();

const find = (...words: string[]) => home.run`find ${words}`;
const foundBy = async (...words: string[]) => linesOf((await find(...words, '-q')).stdout).sort();
const some = (...which: number[]) => which.map((one) => ids[one] ?? '').sort();
/** The requests of a command. */
async function requestsOf(...args: string[]) {
  const { stderr } = await home.run`${args} --debug`;
  return stderr.split('\n').filter((line) => /\bGET http/.test(line)).length;
}
function open(...args: string[]) {
  const [file, ...before] = COMMAND;
  return openScreen(file, [...before, ...args], { env: { ...home.env }, rows: 40 });
}

describe('find', () => {
  beforeAll(setUp);
  afterAll(tearDown);

  it.each<[string[], number[]]>([
    [['lukasz'], [0, 1]],
    [['REHOR', '1377'], [0]],
    [
      ['example.org', 'bo'],
      [1, 2],
    ],
    [['d-3'], [2]],
    [['ukasz'], []],
  ])('finds the envelopes with %j', async (words, which) => {
    expect(await foundBy(...words)).toEqual(some(...which));
    expect(await foundBy('--status', 'DRAFT', ...words)).toEqual([]);
  });

  it('prints the same formats as lists', async () => {
    const all = await home.json`find contract`;
    const listed = await home.json`envelopes list`;
    // The rows were created in the same millisecond: their order is undefined.
    expect(isList(all) && new Set(all)).toEqual(isList(listed) && new Set(listed));
    const csv = await find('1379', '--csv', '--fields', 'id,signers.0.email');
    expect(csv.stdout).toBe(`id,signers.0.email\n${ids[2]},zoe@example.com\n`);
    expect((await find('1379')).stdout).toMatch(new RegExp(`^${ids[2]}\tSENT\t`));
  });

  it('finds nothing: exits with 0, an empty list, and a suggestion', async () => {
    const { code, stdout, stderr } = await find('nobody', '--json');
    expect([code, parseJson(stdout)]).toEqual([0, []]);
    expect(stderr).toMatch(/^No envelopes .*"nobody"/);
    expect(linesOf(stderr)).toHaveLength(1);
    expect((await find(' ')).code).toBe(2);
  });

  it('describes each hit on a terminal, and a single one in full', async () => {
    const several = open('find', 'lukasz');
    expect((await several.ended).code).toBe(0);
    const [first = '', second = ''] = several.visible();
    expect(first).toMatch(/^Contract 137[78] {2}env_\w+$/);
    expect(second).toMatch(/^ {2}Waiting for Łukasz Řehoř <lr@example\.com> and .*\(not opened\)/);
    const one = open('find', 'lukasz', '1377');
    await one.ended;
    expect(one.text()).toContain('Signers  0 of 2 signed');
    expect(one.text()).toContain(`esign envelopes remind ${ids[0]}`);
  });

  it('shows the total', async () => {
    expect((await find('contract', '-L', '1')).stderr).toBe('');
    const { stderr } = await home.run`envelopes list --signer rehor --limit 1`;
    expect(stderr).toBe('');
  });
});

describe('a result', () => {
  beforeAll(setUp);
  afterAll(tearDown);

  it('is always current, unless --cached shows its age', async () => {
    // The index has to contain every envelope.
    await find('1379');
    await home.run`sandbox sign ${ids[2] ?? ''} --all`;
    const cached = await find('1379', '--cached', '--fields', 'status');
    expect(cached.stdout).toBe('SENT\n');
    expect(cached.stderr).toMatch(/up to .* old/);
    expect((await find('1379', '--fields', 'status')).stdout).toBe('COMPLETED\n');
    // Ended envelopes are not requested again: only the list is read.
    expect(await requestsOf('find', '1379')).toBe(1);
    expect(await requestsOf('envelopes', 'list', '--signer', 'zoe@')).toBe(1);
    // Active ones are on the page that was just read.
    expect(await requestsOf('find', 'lukasz')).toBe(1);
    onTestFinished(async () => {
      await home.choose({ 'list-items': 'full' });
    });
    await home.choose({ 'list-items': 'summary' });
    expect(await requestsOf('find', 'lukasz')).toBe(3);
    expect(await requestsOf('find', 'lukasz', '--cached')).toBe(0);
  });

  it('includes verified webhooks', async () => {
    await writeFile(home.path('secret'), 'whsec_0123456789abcdef');
    const listener = home.background`listen --port 0 --secret-file secret --json`;
    const { url } = await listener.object();
    const hook = ['--webhook-url', String(url), '--webhook-secret-file', 'secret', '--allow-missing-roles'];
    const words = ['envelopes', 'create', '--template', 'tmpl_nda', '--signer', 'Olga <olga@example.com>'];
    const id = (await home.run`${words} --send -q ${hook}`).stdout.trim();
    const cached = async () => (await find('olga', '--cached', '--fields', 'status')).stdout;
    expect(await cached()).toBe('SENT\n');
    await home.run`sandbox sign ${id}`;
    await eventually(async () => expect(await cached()).toBe('COMPLETED\n'));
    await listener.stop();
    await home.run`envelopes cancel ${id} --yes`;
  });

  it('ignores a damaged index', async () => {
    const folder = join(home.env.ESIGN_STATE_DIR ?? '', 'index');
    const [name = ''] = await readdir(folder);
    const bytes = await readFile(join(folder, name));
    for (let at = 100; at < bytes.length; at += 400) bytes[at] = 0x7f;
    await writeFile(join(folder, name), bytes);
    expect(await foundBy('contract')).toEqual(some(0, 1, 2));
    expect(await requestsOf('find', '1379')).toBe(1);
  });

  it('includes an envelope that this run created, and one that was canceled', async () => {
    const words = [
      'envelopes',
      'create',
      '--template',
      'tmpl_nda',
      '--signer',
      'Nina <nina@example.com>',
      '-q',
    ];
    const id = (await home.run`${words} --allow-missing-roles`).stdout.trim();
    expect(await foundBy('nina')).toEqual([id]);
    await home.run`envelopes cancel ${id} --yes`;
    // The response to the cancellation is enough: nothing is read again.
    expect((await find('nina', '--cached', '--fields', 'status')).stdout).toBe('CANCELLED\n');
    expect((await find('nina', '--fields', 'status')).stdout).toBe('CANCELLED\n');
  });
});

describe('an index', () => {
  const files = () => readdir(join(home.env.ESIGN_STATE_DIR ?? '', 'index'));
  beforeEach(setUp);
  afterEach(tearDown);

  it('can be shown, refreshed, and cleared', async () => {
    await home.run`sandbox sign ${ids[2] ?? ''} --all`;
    expect(await home.object`index refresh`).toMatchObject({ kept: true, envelopes: 3, unread: 0 });
    expect((await home.run`index show`).stdout).toMatch(/^Envelopes\s+3\nCan change\s+2, /);
    expect(await home.object`index clear --dry-run`).toMatchObject({ dryRun: true });
    expect(await files()).toHaveLength(1);
    await home.run`index clear`;
    expect(await files()).toEqual([]);
    expect(await home.object`index show`).toMatchObject({ envelopes: 0, completeAt: null });
  });

  it('is not stored if it is disabled; searches return the same', async () => {
    await home.run`index clear`;
    const env = { ESIGN_NO_INDEX: '1' };
    const found = await home.run(argv`find lukasz -q`, { env });
    expect(linesOf(found.stdout).sort()).toEqual(some(0, 1));
    expect(await files()).toEqual([]);
    expect(await foundBy('lukasz')).toEqual(some(0, 1));
    expect(await files()).toHaveLength(1);
    await home.run`profiles edit sandbox --no-index`;
    expect(await files()).toEqual([]);
    expect(await foundBy('lukasz')).toEqual(some(0, 1));
    expect(await home.object`index show`).toEqual({ kept: false });
    expect(await files()).toEqual([]);
    await home.run`profiles edit sandbox --index`;
    expect(await foundBy('lukasz')).toEqual(some(0, 1));
    expect(await files()).toHaveLength(1);
    await home.run`profiles remove sandbox --yes`;
    expect(await files()).toEqual([]);
  });
});
