import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isSocketAlive } from '../../../src/kernel/files/process-identity.ts';

/* A wrong `false` would let a second process take the lock of a running one. */

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'esign-namespace-'));
  vi.stubEnv('ESIGN_STATE_DIR', folder);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

describe.skipIf(process.platform !== 'linux')('the owner of a lock in a container', () => {
  const isAlive = (id: string = randomUUID()) => isSocketAlive('boot:4026532000:socket', id);

  it('counts as running if its socket cannot be checked', async () => {
    await symlink('sockets', join(folder, 'sockets'));
    expect(await isAlive()).toBe(true);
  });

  it('counts as killed if it has no socket, or a name that cannot be a socket', async () => {
    expect(await isAlive()).toBe(false);
    await mkdir(join(folder, 'sockets'));
    expect(await isAlive()).toBe(false);
    expect(await isAlive('../lock')).toBe(false);
  });

  it('counts as running if its lock names no socket', async () => {
    expect(await isSocketAlive('boot:4026531836', randomUUID())).toBe(true);
  });
});
