import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { isLocked, type LockOptions, lockFile } from '../../../src/kernel/files/lock.ts';
import { identifyProcess, isAlive, type StatReader } from '../../../src/kernel/files/process-identity.ts';

let folder: string;
let lock: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-lock-'));
  lock = join(folder, 'lock');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const taken = (pid: string) => new Error(`taken by ${pid}`);
/** A system without /proc, such as macOS and Windows. */
const withoutProc: StatReader = () => undefined;
const systems: [string, LockOptions][] = [
  ['with the features of this system', {}],
  ['without /proc', { read: withoutProc }],
];

describe.each(systems)('a lock, %s', (_name, options) => {
  it('has one owner at a time, for any number of tasks of this process, and leaves nothing behind', async () => {
    let inside = 0;
    let most = 0;
    let turns = 0;
    const task = async () => {
      for (let n = 0; n < 15; n++) {
        const release = await lockFile(lock, taken, { ...options, waitMs: 60_000 });
        most = Math.max(most, ++inside);
        await new Promise(setImmediate);
        inside--;
        turns++;
        await release();
      }
    };
    await Promise.all(Array.from({ length: 20 }, task));
    expect([most, turns]).toEqual([1, 300]);
    expect(await readdir(folder)).toEqual([]);
  }, 60_000);

  it('goes to one of many waiting processes when its owner is killed', async () => {
    const killed = await holder(options);
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    expect(await isLocked(lock)).toBe(false);
    let inside = 0;
    let most = 0;
    const task = async () => {
      const release = await lockFile(lock, taken, { ...options, waitMs: 60_000 });
      most = Math.max(most, ++inside);
      await new Promise(setImmediate);
      inside--;
      await release();
    };
    await Promise.all(Array.from({ length: 20 }, task));
    expect(most).toBe(1);
    expect(await readdir(folder)).toEqual([]);
  });

  it('is refused with the process ID of its running owner', async () => {
    const living = await holder(options);
    expect(await isLocked(lock)).toBe(true);
    await expect(lockFile(lock, taken, options)).rejects.toThrow(`taken by ${living.pid}`);
    living.kill('SIGKILL');
  });

  it('is free even if the process ID of its owner is in use again', async () => {
    const killed = await holder(options);
    const mark = await readFile(lock, 'utf8');
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)']);
    const reused = mark.replace(/^\d+/, String(other.pid));
    await writeFile(lock, reused);
    expect(await isAlive(reused, options.read)).toBe(false);
    await (await lockFile(lock, taken, options))();
    other.kill('SIGKILL');
  });
});

describe('a lock', () => {
  it.each(['', 'rubbish'])('is free after a moment without its owner (%j)', async (text) => {
    await writeFile(lock, text);
    await (await lockFile(lock, taken))();
  });

  it('remains if the system has no information about its owner', async () => {
    expect(await isAlive(`${process.pid} 1 x`, withoutProc)).toBe(true);
    expect(await isAlive(`${process.pid}  x`)).toBe(true);
  });

  it('never removes a file that it names, unless it is a socket of esign', async () => {
    for (const name of ['notes.txt', `esign-${randomUUID()}`]) {
      const file = join(folder, name);
      await writeFile(file, 'mine');
      await writeFile(lock, `1 ${encodeURIComponent(file)} x`);
      expect(await isLocked(lock)).toBe(false);
      expect(await readFile(file, 'utf8')).toBe('mine');
    }
    expect(await isAlive('1 %zz x')).toBe(false);
  });

  it('is awaited by counted time, so that a clock that is set back has no effect', async () => {
    const release = await lockFile(lock, taken);
    let now = 0;
    const clock = {
      now: () => (now -= 3_600_000),
      sleep: () => Promise.resolve(),
    };
    await expect(lockFile(lock, taken, { waitMs: 1_000, clock })).rejects.toThrow('taken by');
    await release();
  });

  it('needs no other files while it is held', async () => {
    const release = await lockFile(lock, taken);
    expect(await readdir(folder)).toEqual(['lock']);
    await release();
  });
});

describe.skipIf(process.platform === 'win32')('a pipe in place of a lock', () => {
  it("is an error without an owner, and doesn't block", async () => {
    execFileSync('mkfifo', [lock]);
    expect(await isLocked(lock)).toBe(false);
    await expect(lockFile(lock, taken)).rejects.toMatchObject({ code: 'ENOTFILE' });
    expect(await readdir(folder)).toEqual(['lock']);
  });
});

describe('the liveness marker', () => {
  it('ends with its socket without /proc', async () => {
    const presence = await identifyProcess(withoutProc);
    expect(await isAlive(presence.identity)).toBe(true);
    await presence.end();
    expect(await isAlive(presence.identity)).toBe(false);
  });
});

/** Runs a program in a new PID namespace, as a container does. */
const UNSHARE = ['unshare', '--user', '--map-root-user', '--pid', '--fork', '--mount-proc', '--kill-child'];
const hasNamespaces = (() => {
  try {
    execFileSync(UNSHARE[0] ?? '', [...UNSHARE.slice(1), 'true']);
    return true;
  } catch {
    return false;
  }
})();

describe.skipIf(!hasNamespaces)('a lock of a process in another PID namespace', () => {
  beforeEach(() => {
    vi.stubEnv('ESIGN_STATE_DIR', folder);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it('is held while the process runs and is free after a kill', async () => {
    const owner = await container();
    expect(await isLocked(lock)).toBe(true);
    await expect(lockFile(lock, taken)).rejects.toThrow('taken by');
    expect((await readdir(join(folder, 'sockets'))).length).toBe(1);
    owner.kill('SIGKILL');
    await once(owner, 'close');
    await (await lockFile(lock, taken))();
    expect(await readdir(folder)).toEqual(['sockets']);
    expect(await readdir(join(folder, 'sockets'))).toEqual([]);
  });

  it('is held outside of containers, as seen from one', async () => {
    const release = await lockFile(lock, taken);
    const other = await container().then(
      () => 'held',
      (error: unknown) => String(error),
    );
    expect(other).toContain(`Error: ${process.pid}`);
    await release();
  });
});

/** Another process in a PID namespace of its own that holds the lock until it is killed. Rejects if it can't get the lock. */
async function container(): Promise<ChildProcess> {
  const [unshare = '', ...options] = UNSHARE;
  const child = spawn(unshare, [...options, process.execPath, program, lock, 'yes']);
  let errors = '';
  child.stderr.on('data', (text) => {
    errors += String(text);
  });
  await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'close').then(() => Promise.reject(new Error(errors))),
  ]);
  return child;
}

/** The lock in a separate program. */
let program: string;
beforeAll(async () => {
  program = join(await mkdtemp(join(tmpdir(), 'esign-holder-')), 'holder.mjs');
  const source = join(import.meta.dirname, '../../../src/kernel/files/lock.ts');
  const contents = `
    import { lockFile } from ${JSON.stringify(source)};
    const [, , lock, proc] = process.argv;
    await lockFile(lock, (pid) => new Error(pid), proc === 'no' ? { read: () => undefined } : {});
    process.send ? process.send('held') : console.log('held');
    setInterval(() => undefined, 1_000_000);`;
  const stdin = { contents, resolveDir: import.meta.dirname };
  await build({ stdin, bundle: true, platform: 'node', format: 'esm', outfile: program });
});
afterAll(() => rm(dirname(program), { recursive: true }));

/** Another process that holds the lock until it is killed. */
async function holder(options: LockOptions): Promise<ChildProcess> {
  // A killed process leaves its socket in the temporary folder until another process finds it.
  const env = { ...process.env, TMPDIR: dirname(program), TEMP: dirname(program) };
  const child = fork(program, [lock, options.read ? 'no' : 'yes'], { env });
  await once(child, 'message');
  return child;
}
