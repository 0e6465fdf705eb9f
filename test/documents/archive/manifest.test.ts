import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { link, mkdir, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { updateManifest } from '../../../src/documents/archive/manifest.ts';
import { type VerifiedFile, verifyDocuments } from '../../../src/documents/archive/verify.ts';
import { newFolder } from '../../support/folder.ts';
import { giveAway, hasLinks } from '../../support/system.ts';
import { needs } from '../../support/tools.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
let dir: string;
beforeEach(() => {
  dir = newFolder();
});

const UNKNOWN = { authorities: [] };
const list = () => readFile(join(dir, 'SHA256SUMS'), 'utf8');

async function verify(place = dir): Promise<VerifiedFile[]> {
  const files: VerifiedFile[] = [];
  for await (const file of verifyDocuments([place], { known: UNKNOWN })) files.push(file);
  return files;
}

describe('SHA256SUMS', () => {
  it('can be read by sha256sum', needs('sha256sum'), async () => {
    const names = ['plain.pdf', 'sub/日本 é.pdf', ' blank'];
    await mkdir(join(dir, 'sub'));
    for (const name of names) await writeFile(join(dir, name), name);
    await updateManifest(dir, new Map(names.map((name) => [name, sha256(name)])));
    expect(() => execFileSync('sha256sum', ['-c', '--strict', 'SHA256SUMS'], { cwd: dir })).not.toThrow();
    const own = execFileSync('sha256sum', names, { cwd: dir, encoding: 'utf8' });
    expect((await list()).trimEnd().split('\n').sort()).toEqual(own.trimEnd().split('\n').sort());
    expect((await verify()).map((file) => file.list)).toEqual(names.map(() => 'ok'));
  });

  it('replaces its own lines and keeps those of others', async () => {
    const foreign = `# mine\n${sha256('x')} *other.iso\n`;
    await writeFile(join(dir, 'SHA256SUMS'), foreign);
    await updateManifest(dir, new Map([['a.pdf', sha256('1')]]));
    await updateManifest(dir, new Map([['a.pdf', sha256('2')]]));
    expect(await list()).toBe(`${foreign}${sha256('2')}  a.pdf\n`);
  });
});

describe('a list of hashes from another program', () => {
  const line = () => `${sha256('1')}  a.pdf\r\n`;
  const utf16 = (text: string) => Buffer.from(text, 'utf16le');

  it.each([
    ['has a byte order mark', () => Buffer.from(`\ufeff${line()}`)],
    ['is in UTF-16, as PowerShell writes it', () => utf16(`\ufeff${line()}`)],
    ['is in UTF-16 without a byte order mark', () => utf16(line())],
    ['is from sha256sum --tag', () => Buffer.from(`SHA256 (a.pdf) = ${sha256('1')}\n`)],
    ['is from openssl dgst', () => Buffer.from(`SHA2-256(a.pdf)= ${sha256('1')}\n`)],
    ['has capitals and an asterisk', () => Buffer.from(`${sha256('1').toUpperCase()} *a.pdf\n`)],
  ])('is read if it %s', async (_, bytes) => {
    await writeFile(join(dir, 'a.pdf'), '1');
    await writeFile(join(dir, 'SHA256SUMS'), bytes());
    expect(await verify()).toMatchObject([{ list: 'ok' }]);
    await updateManifest(dir, new Map([['b.pdf', sha256('2')]]));
    expect((await verify()).map((one) => one.list)).toEqual(['ok', 'missing']);
  });
});

describe('verify', () => {
  it('reports changed, missing, outside, and unreadable files', async () => {
    await writeFile(join(dir, 'good'), 'good');
    await writeFile(join(dir, 'bad'), 'b4d');
    await mkdir(join(dir, 'folder'));
    const lines = [
      `${sha256('good')}  good`,
      `${sha256('bad')}  bad`,
      `${sha256('gone')}  gone`,
      `${sha256('x')}  ../outside`,
      `${sha256('x')}  /etc/passwd`,
      `${sha256('x')}  folder`,
      'not a line',
      '# a comment',
    ];
    await writeFile(join(dir, 'SHA256SUMS'), `${lines.join('\n')}\n`);
    expect((await verify()).map((file) => file.error?.message ?? file.list)).toEqual([
      'ok',
      expect.stringMatching(/\/bad was changed: .*SHA256SUMS/),
      `${join(dir, 'gone')} is missing.`,
      expect.stringMatching(/\/folder can't be read/),
      `${join(dir, 'SHA256SUMS')}: line 4 names a file outside the folder.`,
      `${join(dir, 'SHA256SUMS')}: line 5 names a file outside the folder.`,
      `${join(dir, 'SHA256SUMS')}: line 7 is invalid.`,
    ]);
  });

  it.runIf(hasLinks)("doesn't block on a named pipe, in the list or instead of it", async () => {
    execFileSync('mkfifo', [join(dir, 'pipe.pdf')]);
    await writeFile(join(dir, 'SHA256SUMS'), `${sha256('')}  pipe.pdf\n`);
    expect((await verify()).map((file) => file.error?.message)).toEqual([
      expect.stringMatching(/\/pipe\.pdf .*not a regular file/),
    ]);
    await rm(join(dir, 'SHA256SUMS'));
    execFileSync('mkfifo', [join(dir, 'SHA256SUMS')]);
    await expect(verify()).rejects.toMatchObject({ code: 'USAGE' });
  });

  it.runIf(hasLinks)('reads no list through a link, and prints no line of one', async () => {
    const secret = join(dir, 'secret');
    await mkdir(join(dir, 'archive', 'sub'), { recursive: true });
    await writeFile(secret, 'aws_secret_access_key = canary\n');
    for (const place of ['archive', 'archive/sub']) {
      const path = join(dir, place, 'SHA256SUMS');
      await symlink(secret, path);
      const error: unknown = await verify().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({
        code: 'USAGE',
        message: expect.stringContaining('a symbolic link') as unknown,
      });
      await rm(path);
      // A hard link, which some systems let anyone create.
      await link(secret, path);
      expect((await verify()).map((file) => file.error?.message)).toEqual([
        `${join(dir, place, 'SHA256SUMS')}: line 1 is invalid.`,
      ]);
      await rm(path);
    }
    await symlink(secret, join(dir, 'archive', 'SHA256SUMS'));
    await expect(updateManifest(join(dir, 'archive'), new Map([['a', sha256('a')]]))).rejects.toMatchObject({
      code: 'ELOOP',
    });
    expect(await readFile(secret, 'utf8')).toContain('canary');
  });

  it.runIf(hasLinks)('refuses a list of another user, and ignores one above the folder', async () => {
    const sub = join(dir, 'sub');
    await mkdir(sub);
    await writeFile(join(sub, 'a.document.pdf'), 'one');
    const path = join(dir, 'SHA256SUMS');
    await writeFile(path, `${sha256('other')}  sub/a.document.pdf\n`);
    expect((await verify(sub)).map(({ list }) => list)).toEqual(['changed']);
    await giveAway(path);
    await expect(verify(dir)).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining('another user') as unknown,
    });
    await expect(updateManifest(dir, new Map([['a', sha256('a')]]))).rejects.toMatchObject({
      code: 'EFOREIGN',
    });
    for (const place of [sub, join(sub, 'a.document.pdf')])
      expect((await verify(place)).map(({ list }) => list)).toEqual(['unlisted']);
  });

  it('refuses a list that is larger than any genuine one', async () => {
    const path = join(dir, 'SHA256SUMS');
    await writeFile(path, '');
    await truncate(path, 300 * 1024 * 1024);
    await expect(verify()).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining('too large') as unknown,
    });
    await writeFile(path, '\n'.repeat(1_000_001));
    await expect(verify()).rejects.toMatchObject({ code: 'USAGE' });
  });

  it.runIf(hasLinks)('keeps a private list private', async () => {
    await writeFile(join(dir, 'SHA256SUMS'), '', { mode: 0o600 });
    await updateManifest(dir, new Map([['a.pdf', sha256('1')]]));
    expect((await stat(join(dir, 'SHA256SUMS'))).mode & 0o777).toBe(0o600);
  });

  it('requires a list', async () => {
    await expect(verify()).rejects.toMatchObject({ code: 'USAGE' });
  });
});
