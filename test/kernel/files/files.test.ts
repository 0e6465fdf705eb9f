import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { writeFileAtomic } from '../../../src/kernel/files/files.ts';
import { makeFolder } from '../../../src/kernel/files/folder.ts';
import { replaceFile } from '../../../src/kernel/files/replace-file.ts';
import { fakeClock } from '../../support/clock.ts';
import { newFolder } from '../../support/folder.ts';
import { isPrivate } from '../../support/private.ts';

let folder: string;
beforeEach(() => {
  folder = newFolder();
});

describe('replaceFile', () => {
  it('replaces the text, readable only by the owner, and creates the folder', () => {
    const path = join(folder, 'new', 'file');
    replaceFile(path, 'one');
    replaceFile(path, 'two');
    expect(readFileSync(path, 'utf8')).toBe('two');
    expect(readdirSync(join(folder, 'new'))).toEqual(['file']);
    expect([isPrivate(path), isPrivate(join(folder, 'new'))]).toEqual([true, true]);
  });

  it("leaves no temporary file if it can't replace a file", () => {
    mkdirSync(join(folder, 'file', 'inside'), { recursive: true });
    expect(() => replaceFile(join(folder, 'file'), 'one')).toThrow();
    expect(readdirSync(folder)).toEqual(['file']);
  });
});

describe('writeFileAtomic', () => {
  /** A system on which another program has the file open for this many tries. */
  const inUse = (platform: NodeJS.Platform, tries: number, code = 'EPERM') => {
    let left = tries;
    const renaming = (from: string, to: string) =>
      left-- > 0 ? Promise.reject(Object.assign(new Error(code), { code })) : rename(from, to);
    return { platform, clock: fakeClock(), rename: renaming };
  };
  const path = () => join(folder, 'file');

  it.each(['EPERM', 'EACCES', 'EBUSY'])(
    'waits on Windows until the file is free again (%s)',
    async (code) => {
      writeFileSync(path(), 'one');
      const system = inUse('win32', 5, code);
      await writeFileAtomic(path(), 'two', 0o600, system);
      expect(readFileSync(path(), 'utf8')).toBe('two');
      expect(system.clock.slept).toHaveLength(5);
    },
  );

  it.each([
    ['a file in use', inUse('win32', 1_000), 'EPERM'],
    ['another error', inUse('win32', 1, 'EIO'), 'EIO'],
    ['another platform', inUse('linux', 1), 'EPERM'],
    ['another disk', inUse('linux', 1, 'EXDEV'), 'EXDEV'],
  ])('keeps the old text when it fails on %s, and leaves no temporary file', async (_name, system, code) => {
    writeFileSync(path(), 'one');
    await expect(writeFileAtomic(path(), 'two', 0o600, system)).rejects.toThrow(code);
    expect(readFileSync(path(), 'utf8')).toBe('one');
    expect(readdirSync(folder)).toEqual(['file']);
    expect(system.clock.slept.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(6_000);
  });
});

describe('makeFolder', () => {
  it('creates the parents, and returns whether there was anything to create', () => {
    expect(makeFolder(join(folder, 'a', 'b', 'c'))).toBe(true);
    expect(makeFolder(join(folder, 'a', 'b', 'c'))).toBe(false);
  });

  it('stops at a file', () => {
    writeFileSync(join(folder, 'file'), '');
    expect(() => makeFolder(join(folder, 'file'))).toThrow(expect.objectContaining({ code: 'ENOTDIR' }));
    expect(() => makeFolder(join(folder, 'file', 'x', 'y'))).toThrow(
      expect.objectContaining({ code: 'ENOTDIR' }),
    );
  });

  // Node's recursive mkdir never returns here.
  it.runIf(process.platform === 'linux')('fails if no folder can be created', () => {
    expect(() => makeFolder('/proc/1/nope/x/y')).toThrow(/ENOENT|EACCES/);
  });
});
