import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { rowsOf } from '../support/bulk-check.ts';
import { Home } from '../support/cli.ts';

const home = new Home();
beforeAll(() => home.sandbox());
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
  const second = await rehearse('rows.csv', '--random-seed', '7');
  expect(isRecord(result)).toBe(true);
  if (isRecord(result)) expect(parseJson(second.stdout)).toMatchObject({ expected: result.expected });

  expect(await home.json`bulk list --json`).toEqual([]);
  expect(await home.json`envelopes list --json`).toEqual([]);
});

it('lists the rows that would be refused, and rehearses the others', async () => {
  const text =
    'email,role\nada@example.com,Signer\nnot an address,Signer\nbo@example.com,Pilot\ncy@example.com,\n';
  await writeFile(home.path('bad.csv'), text);
  const { code, stdout } = await rehearse('bad.csv');
  expect(code).toBe(10);
  expect(parseJson(stdout)).toMatchObject({ envelopes: 2, failed: [{ line: 3 }, { line: 4 }] });
});

it('refuses a file without a row', async () => {
  await writeFile(home.path('empty.csv'), 'email\n');
  expect((await rehearse('empty.csv')).code).toBe(2);
});
