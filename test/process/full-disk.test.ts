import { rm, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isList, isRecord } from '../../src/kernel/json.ts';
import { rowsOf } from '../support/bulk-check.ts';
import { Home } from '../support/cli.ts';
import { canMount, onSmallDisk } from '../support/disk-faults.ts';

describe.skipIf(!canMount)('with a full disk for the state, nothing is sent and the exit code is 1', () => {
  const home = new Home();
  const ids = { draft: '', open: '' };
  beforeAll(async () => {
    await home.sandbox();
    await writeFile(home.path('rows.csv'), rowsOf(2));
    const create = 'envelopes create --template tmpl_nda --signer ada@example.com -q'.split(' ');
    ids.draft = (await home.run(create)).stdout.trim();
    ids.open = (await home.run([...create, '--send'])).stdout.trim();
  });
  afterAll(() => home.close());

  const envelopes = async () => {
    const list = await home.json`envelopes list --all --json`;
    return isList(list) ? list.filter(isRecord).map(({ id, status }) => [id, status]) : [];
  };

  it.each([
    [
      'a create',
      () => ['envelopes', 'create', '--template', 'tmpl_nda', '--signer', 'bo@example.com', '--send'],
    ],
    ['a send', () => ['envelopes', 'send', ids.draft]],
    ['a reminder', () => ['envelopes', 'remind', ids.open]],
    ['a cancellation', () => ['envelopes', 'cancel', ids.open]],
    ['a bulk run', () => ['bulk', 'create', 'rows.csv', '--template', 'tmpl_nda', '--send', '--yes']],
  ])('sends nothing and exits with 1: %s', async (_, words) => {
    const before = await envelopes();
    await rm(home.path('state'), { recursive: true });
    const run = await onSmallDisk(home, home.path('state'), 4, words());
    expect([run.code, run.stderr]).toEqual([1, expect.stringContaining('disk is full')]);
    expect(await envelopes()).toEqual(before);
  });
});
