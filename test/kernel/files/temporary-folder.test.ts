import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryFolder } from '../../../src/kernel/files/temporary-folder.ts';

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'esign-temporary-'));
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

/** The folder of a killed process: its lock names a process that is gone. */
async function left(name: string): Promise<string> {
  const { path, remove } = await temporaryFolder('x-', parent);
  const [lock = ''] = readdirSync(path);
  await remove();
  const folder = join(parent, name);
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, lock), `${spawnSync(process.execPath, ['-v']).pid} 1 gone`);
  writeFileSync(join(folder, 'kept.txt'), 'text');
  return folder;
}

it('exists until it is deleted, and those of running processes stay', async () => {
  const [first, second] = [await temporaryFolder('x-', parent), await temporaryFolder('x-', parent)];
  expect(readdirSync(parent)).toHaveLength(2);
  await first.remove();
  expect(readdirSync(parent).map((name) => join(parent, name))).toEqual([second.path]);
  await second.remove();
  expect(readdirSync(parent)).toEqual([]);
});

it('is a configuration error if the temporary folder does not exist', async () => {
  await expect(temporaryFolder('x-', join(parent, 'missing'))).rejects.toMatchObject({ code: 'USAGE' });
});

it('deletes the folders of killed processes, and nothing else with that name', async () => {
  await left('x-killed');
  await left('y-other');
  mkdirSync(join(parent, 'x-without'));
  writeFileSync(join(parent, 'x-file'), '');
  symlinkSync(join(parent, 'y-other'), join(parent, 'x-link'));
  const folder = await temporaryFolder('x-', parent);
  await folder.remove();
  expect(readdirSync(parent).sort()).toEqual(['x-file', 'x-link', 'x-without', 'y-other']);
});

it.skipIf(process.platform === 'win32')('ignores folders that others may write to', async () => {
  chmodSync(await left('x-open'), 0o777);
  const folder = await temporaryFolder('x-', parent);
  await folder.remove();
  expect(readdirSync(parent)).toEqual(['x-open']);
});
