import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { isLocked, lockFile } from '../../../src/kernel/files/lock.ts';
import { newFolder } from '../../support/folder.ts';

let folder: string;
let lock: string;
beforeEach(() => {
  folder = newFolder();
  lock = join(folder, 'lock');
});

const taken = (pid: string) => new Error(`taken by ${pid}`);

/** Acquires the lock with this many tasks, each several times. Returns how many had it at the same time, and in all. */
async function compete(tasks: number, times: number): Promise<{ most: number; turns: number }> {
  const counts = { inside: 0, most: 0, turns: 0 };
  const task = async () => {
    for (let n = 0; n < times; n++) {
      const release = await lockFile(lock, taken, { waitMs: 60_000 });
      counts.most = Math.max(counts.most, ++counts.inside);
      await new Promise(setImmediate);
      counts.inside--;
      counts.turns++;
      await release();
    }
  };
  await Promise.all(Array.from({ length: tasks }, task));
  return counts;
}

describe('a lock', () => {
  it('has one owner at a time, and leaves nothing behind', async () => {
    expect(await compete(10, 5)).toMatchObject({ most: 1, turns: 50 });
    expect(await readdir(folder)).toEqual([]);
  });

  it('has no other file while a task waits, which a kill would leave behind', async () => {
    const release = await lockFile(lock, taken);
    const seen: string[][] = [];
    const sleep = async () => {
      seen.push(await readdir(folder));
      await release();
    };
    const second = await lockFile(lock, taken, { waitMs: 60_000, clock: { ...systemClock, sleep } });
    await second();
    expect(seen).toEqual([['lock']]);
  });

  it('goes to one of many waiting tasks when its owner is killed', async () => {
    const killed = await holder();
    expect(await isLocked(lock)).toBe(true);
    await expect(lockFile(lock, taken)).rejects.toThrow(`taken by ${killed.pid}`);
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    expect(await isLocked(lock)).toBe(false);
    expect(await compete(10, 1)).toMatchObject({ most: 1, turns: 10 });
    expect(await readdir(folder)).toEqual([]);
  });

  it.skipIf(process.platform !== 'linux')(
    'can be taken if its process ID now belongs to another process',
    async () => {
      const killed = await holder();
      const owner = await readFile(lock, 'utf8');
      killed.kill('SIGKILL');
      await once(killed, 'exit');
      const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)']);
      await writeFile(lock, owner.replace(/^\d+/, String(other.pid)));
      await (await lockFile(lock, taken))();
      other.kill('SIGKILL');
    },
  );

  it.each(['', 'rubbish', '999999999 1 x'])('can be taken if its file names no owner (%j)', async (text) => {
    await writeFile(lock, text);
    await (await lockFile(lock, taken))();
  });

  it('of another machine is kept, and the error names its file', async () => {
    await writeFile(lock, '999999999 1 x another-host/boot/namespace');
    expect(await isLocked(lock)).toBe(true);
    await expect(lockFile(lock, taken)).rejects.toThrow(lock);
  });
});

/** The lock in a separate program. */
let program: string;
beforeAll(async () => {
  program = join(newFolder(), 'holder.mjs');
  const source = join(import.meta.dirname, '../../../src/kernel/files/lock.ts');
  const contents = `
    import { lockFile } from ${JSON.stringify(source)};
    await lockFile(process.argv[2], (pid) => new Error(pid));
    process.send('held');
    setInterval(() => undefined, 1_000_000);`;
  const stdin = { contents, resolveDir: import.meta.dirname };
  await build({ stdin, bundle: true, platform: 'node', format: 'esm', outfile: program });
});

/** Another process that holds the lock until it is killed. */
async function holder(): Promise<ChildProcess> {
  const child = fork(program, [lock]);
  await once(child, 'message');
  return child;
}
