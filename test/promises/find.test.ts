import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isList, parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { Home, linesOf } from '../support/cli.ts';
import { openCommand } from '../support/pty.ts';

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
  const lines = linesOf((await home.run`envelopes list --fields subject,id`).stdout);
  ids = lines.sort().map((line) => line.split('\t')[1] ?? '');
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
const open = (...args: string[]) => openCommand(home, args, { rows: 40 });

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
    [['tmpl_nda', 'zoe@example'], [2]],
    [['ukasz'], []],
  ])('finds the envelopes in which words begin with %j', async (words, which) => {
    expect(await foundBy(...words)).toEqual(some(...which));
  });

  it('combines words with filters', async () => {
    expect(await foundBy('bo', '--signer', 'zoe@')).toEqual(some(2));
    expect(await foundBy('bo', '--metadata', 'deal=D-2', '--run', 'last')).toEqual(some(1));
    expect(await foundBy('bo', '--status', 'DRAFT')).toEqual([]);
    expect(await foundBy('bo', '--older-than', '1d')).toEqual([]);
  });

  it('finds an envelope by its ID', async () => {
    expect(await foundBy(ids[1] ?? '')).toEqual(some(1));
  });

  it('prints the same formats as lists', async () => {
    const all = await home.json`find contract`;
    if (!isList(all)) throw new Error('find prints no list');
    expect(all.length).toBeGreaterThan(1);
    expect(await home.json`envelopes list`).toEqual(expect.arrayContaining(all));
    const csv = await find('1379', '--csv', '--fields', 'id,signers.0.email');
    expect(csv.stdout).toBe(`id,signers.0.email\n${ids[2]},zoe@example.com\n`);
    expect((await find('1379')).stdout).toMatch(new RegExp(`^${ids[2]}\tSENT\t`));
  });

  it('exits with 0, an empty list, and a suggestion if nothing matches', async () => {
    const { code, stdout, stderr } = await find('nobody', '--json');
    expect([code, parseJson(stdout)]).toEqual([0, []]);
    expect(stderr).toContain('nobody');
    expect(linesOf(stderr)).toHaveLength(1);
    expect((await find(' ')).code).toBe(2);
    expect((await find('canceled')).stderr).toContain('`esign envelopes list --status CANCELLED`');
    // A letter too many, and a word that no envelope has.
    expect((await find('mister', 'lukassz')).stderr).toContain('Did you mean `esign find lukasz`?');
  });

  it('shows first on a terminal where one signer has all words, and a single envelope as get does', async () => {
    // In a newer one, two signers share the words.
    const signers = ['--signer', 'Ada <ada@other.example>', '--signer', 'Eo <eo@example.org>'];
    await home.run`envelopes create --template tmpl_nda --subject Later ${signers} --allow-missing-roles`;
    const several = open('find', 'ada', 'example.org');
    expect((await several.ended).code).toBe(0);
    const subjects = several.visible().filter((line) => /^\w.* env_\w+$/.test(line));
    expect(subjects.map((line) => line.split('  ')[0])).toEqual(['Contract 1377', 'Later']);
    expect(several.text()).toContain('Ada Lovelace <ada@example.org>');
    expect(several.text()).not.toContain('opened');
    const one = open('find', 'lukasz', '1377');
    await one.ended;
    expect(one.text()).toContain(`esign envelopes remind ${ids[0]}`);
  });
});

describe('a result', () => {
  beforeAll(setUp);
  afterAll(tearDown);

  it('is up to date, except with --cached, which shows its age', async () => {
    await find('1379');
    await home.run`sandbox sign ${ids[2] ?? ''} --all`;
    const cached = await find('1379', '--cached', '--fields', 'status');
    expect(cached.stdout).toBe('SENT\n');
    expect(cached.stderr).not.toBe('');
    expect((await find('1379', '--fields', 'status')).stdout).toBe('COMPLETED\n');
    // Ended envelopes are not requested again: only the list is read.
    expect(await requestsOf('find', '1379')).toBe(1);
    expect(await requestsOf('envelopes', 'list', '--signer', 'zoe@')).toBe(1);
    // Active ones are on the page that was just read.
    expect(await requestsOf('find', 'lukasz')).toBe(1);
    expect(await requestsOf('find', 'lukasz', '--cached')).toBe(0);
  });

  it('includes an envelope that this machine created, and one that it canceled', async () => {
    const create = ['envelopes', 'create', '--template', 'tmpl_nda', '--signer', 'Nina <nina@example.com>'];
    const id = (await home.run`${create} --allow-missing-roles -q`).stdout.trim();
    expect(await foundBy('nina')).toEqual([id]);
    await home.run`envelopes cancel ${id} --yes`;
    expect((await find('nina', '--fields', 'status')).stdout).toBe('CANCELLED\n');
  });
});

describe('an index', () => {
  const files = () => readdir(join(home.env.ESIGN_STATE_DIR ?? '', 'index')).catch(() => []);
  beforeEach(setUp);
  afterEach(tearDown);

  it('is not stored if it is disabled, and removed with its profile; searches return the same', async () => {
    expect(await foundBy('lukasz')).toEqual(some(0, 1));
    expect(await files()).toHaveLength(1);
    await home.run`profiles edit sandbox --no-index`;
    expect(await files()).toEqual([]);
    expect(await foundBy('lukasz')).toEqual(some(0, 1));
    expect(await foundBy('lukasz', '--cached')).toEqual(some(0, 1));
    expect(await files()).toEqual([]);
    await home.run`profiles edit sandbox --index`;
    const { stdout } = await home.run(argv`find lukasz -q`, { env: { ESIGN_NO_INDEX: '1' } });
    expect(linesOf(stdout).sort()).toEqual(some(0, 1));
    expect(await files()).toEqual([]);
    expect(await foundBy('lukasz')).toEqual(some(0, 1));
    expect(await files()).toHaveLength(1);
    await home.run`profiles remove sandbox --yes`;
    expect(await files()).toEqual([]);
  });
});
