import { execFileSync } from 'node:child_process';
import { readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { Home, reportedError } from '../support/cli.ts';
import { isWindows } from '../support/system.ts';

/* What esign does if something else was put in place of its files: it ends, and says what is wrong. */
const PLANTED: [string, (path: string) => unknown][] = [
  ['a named pipe', (path) => execFileSync('mkfifo', [path])],
  ['a link to a device without an end', (path) => symlink('/dev/zero', path)],
];

describe.skipIf(isWindows).each(PLANTED)('%s', (_, plant) => {
  const home = new Home();
  let id: string;
  beforeAll(async () => {
    await home.sandbox();
    id = (
      await home.run`envelopes create --template tmpl_nda --signer ada@example.com --send -q`
    ).stdout.trim();
    await home.run`find ada`;
    await replaceFiles(home.path('state', 'log'));
    await replaceFiles(home.path('state', 'index'));
  });

  async function replaceFiles(folder: string) {
    const names = await readdir(folder);
    expect(names).not.toEqual([]);
    for (const path of names.map((name) => join(folder, name))) {
      await rm(path);
      await plant(path);
    }
  }

  it('in place of the index costs only time', async () => {
    expect((await home.run`find ada -q`).stdout.trim()).toBe(id);
    expect((await home.run`envelopes get ${id} --json`).code).toBe(0);
  });

  it('in place of the log refuses every write', async () => {
    const error = reportedError(await home.run`envelopes remind ${id} --yes --json`);
    expect(error).toMatchObject({ exitCode: 2, message: expect.stringContaining('regular file') as unknown });
  });

  it('in place of the profiles is named', async () => {
    const path = home.path('config', 'profiles.json');
    const kept = await readFile(path);
    await rm(path);
    await plant(path);
    const error = reportedError(await home.run`profiles list --json`);
    await rm(path);
    await writeFile(path, kept, { mode: 0o600 });
    expect(error).toMatchObject({ exitCode: 2, message: expect.stringContaining('regular file') as unknown });
  });
});

it('refuses a log with a line that never ends', async () => {
  const home = new Home();
  await home.sandbox();
  await home.run`envelopes create --template tmpl_nda --signer ada@example.com -q`;
  const [name = ''] = await readdir(home.path('state', 'log'));
  await writeFile(home.path('state', 'log', name), '');
  await truncate(home.path('state', 'log', name), 2 ** 30);
  expect(reportedError(await home.run`log --json`)).toMatchObject({ exitCode: 2 });
});
