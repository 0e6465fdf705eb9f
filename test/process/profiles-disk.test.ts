import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { argv } from '../support/argv.ts';
import { Home } from '../support/cli.ts';
import { canMount, needsInjection, onSmallDisk } from '../support/disk-faults.ts';

const add = (home: Home, name: string) =>
  home.run(argv`profiles add ${name} --base-url http://127.0.0.1:9 --api-key-file - --no-verify`, {
    input: `esk_${'0'.repeat(30)}\n`,
  });

describe('the profiles', () => {
  const home = new Home();
  let file = '';
  beforeAll(async () => {
    file = home.path('config', 'profiles.json');
    for (const name of ['one', 'two']) await add(home, name);
  });

  it.skipIf(!canMount)('survive a full disk', async () => {
    const before = await readFile(file, 'utf8');
    const edit = ['profiles', 'edit', 'one', '--no-verify', '--region', 'r'.repeat(6_000)];
    const codes = new Set<number | null>();
    for (const kib of [8, 12, 64]) {
      const run = await onSmallDisk(home, home.path('config'), kib, edit);
      codes.add(run.code);
      if (run.code !== 0) {
        expect(run.stderr).toContain('the disk is full');
        expect(await readFile(file, 'utf8')).toBe(before);
      }
      expect(await readdir(home.path('config'))).toEqual(['profiles.json']);
      await writeFile(file, before);
    }
    expect([...codes]).toEqual([2, 0]);
  });

  it('are synced before they are renamed, and their folder afterwards', needsInjection, async () => {
    const log = home.path('calls');
    const under = ['strace', '-f', '-y', '-qq', '-o', log, '-e', 'trace=fsync,rename'];
    expect((await home.run(argv`profiles use two`, { under })).code).toBe(0);
    const calls = (await readFile(log, 'utf8'))
      .split('\n')
      .filter((line) => line.includes(home.path('config')) && !line.includes('resumed'))
      .map((line) => line.replace(/^\d+ +(\w+)\(\d*.*?\/config(?:\/([^">]+))?.*/, '$1 $2'));
    const last = calls.slice(-3).map((call) => call.replace(/\.[0-9a-f]+\.tmp/, ' (temporary)').trim());
    expect(last).toEqual(['fsync profiles.json (temporary)', 'rename profiles.json (temporary)', 'fsync']);
  });
});

it('processes that change the profiles at the same time take turns, and a killed one blocks nobody', async () => {
  const home = new Home();
  await mkdir(home.path('config'), { recursive: true });
  await writeFile(home.path('config', 'profiles.json.lock'), '999999999 1 killed');
  const names = ['p1', 'p2', 'p3', 'p4'];
  const runs = await Promise.all(names.map((name) => add(home, name)));
  expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  expect((await home.run`profiles list -q`).stdout.trim().split('\n').sort()).toEqual(names);
  expect(await readdir(home.path('config'))).toEqual(['profiles.json']);
});
