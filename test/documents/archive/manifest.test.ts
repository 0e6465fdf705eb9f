import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Folders } from '../../../src/documents/archive/folders.ts';
import { Ledger } from '../../../src/documents/archive/ledger.ts';
import { parseLine, updateManifest } from '../../../src/documents/archive/manifest.ts';
import { type VerifiedFile, verifyPapers } from '../../../src/documents/archive/verify.ts';
import { judgeSeal } from '../../../src/documents/seal/judge.ts';
import { checkSeal } from '../../../src/documents/seal/seal.ts';
import { lockFile } from '../../../src/kernel/files/lock.ts';
import { hasLinks } from '../../support/system.ts';
import { needs } from '../../support/tools.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'esign-manifest-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const list = () => readFile(join(dir, 'SHA256SUMS'), 'utf8');

async function verify(): Promise<VerifiedFile[]> {
  const files: VerifiedFile[] = [];
  const judge = async (path: string) => judgeSeal(await checkSeal(path), { authorities: [], pinned: [] });
  for await (const file of verifyPapers([dir], { judge })) files.push(file);
  return files;
}

describe('SHA256SUMS', () => {
  it('is what sha256sum reads, with any name', needs('sha256sum'), async () => {
    const names = ['plain.pdf', 'sub/日本 é.pdf', 'back\\slash', 'line\nbreak', ' blank'];
    await mkdir(join(dir, 'sub'));
    for (const name of names) await writeFile(join(dir, name), name);
    await updateManifest(dir, new Map(names.map((name) => [name, sha256(name)])));
    expect(() => execFileSync('sha256sum', ['-c', '--strict', 'SHA256SUMS'], { cwd: dir })).not.toThrow();
    const own = execFileSync('sha256sum', names, { cwd: dir, encoding: 'utf8' });
    expect((await list()).trimEnd().split('\n').sort()).toEqual(own.trimEnd().split('\n').sort());
    expect((await verify()).map((file) => file.list)).toEqual(names.map(() => 'ok'));
  });

  it('replaces its own lines and leaves those of others', async () => {
    const foreign = `# mine\n${sha256('x')} *other.iso\n`;
    await writeFile(join(dir, 'SHA256SUMS'), foreign);
    await updateManifest(dir, new Map([['a.pdf', sha256('1')]]));
    await updateManifest(dir, new Map([['a.pdf', sha256('2')]]));
    expect(await list()).toBe(`${foreign}${sha256('2')}  a.pdf\n`);
  });

  it('loses nothing when several write at once', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `${index}.pdf`);
    await Promise.all(names.map((name) => updateManifest(dir, new Map([[name, sha256(name)]]))));
    const written = (await list())
      .trimEnd()
      .split('\n')
      .map((line) => parseLine(line)?.name);
    expect(written.sort()).toEqual([...names].sort());
  });

  it('remembers ETags that are no MD5, for exactly the bytes they came with', async () => {
    const folders = new Folders(dir);
    const ledger = await Ledger.open(dir, folders);
    await ledger.record(join(dir, 'a.pdf'), sha256('a'), '"abc-3"');
    await ledger.record(join(dir, 'b.pdf'), sha256('b'), undefined);
    await ledger.flush();
    await folders.close();
    const later = await Ledger.open(dir, folders);
    expect(later.etagOf(join(dir, 'a.pdf'), sha256('a'))).toBe('"abc-3"');
    expect(later.etagOf(join(dir, 'a.pdf'), sha256('changed'))).toBeUndefined();
    expect(later.etagOf(join(dir, 'b.pdf'), sha256('b'))).toBeUndefined();
  });
});

describe('a list that can not be written', () => {
  it('fails in words, and has every file as soon as it can', async () => {
    const folders = new Folders(dir);
    const ledger = await Ledger.open(dir, folders);
    await mkdir(join(dir, 'SHA256SUMS', 'in-the-way'), { recursive: true });
    // More than are written down together.
    for (let index = 0; index < 501; index++) await ledger.record(join(dir, `${index}`), sha256('x'), '"e"');
    await expect(ledger.flush()).rejects.toMatchObject({
      code: expect.stringMatching(/STORAGE_LOCAL|USAGE/) as unknown,
    });
    await rm(join(dir, 'SHA256SUMS'), { recursive: true });
    await ledger.record(join(dir, 'last'), sha256('x'), undefined);
    await ledger.flush();
    await folders.close();
    expect((await list()).trimEnd().split('\n')).toHaveLength(502);
    expect((await readdir(dir)).sort()).toEqual(['.esign-etags.json', 'SHA256SUMS']);
  });
});

describe('verifying', () => {
  it('tells what is changed, missing, outside or unreadable', async () => {
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
      'bad is not what was downloaded: its SHA-256 is another.',
      'gone is missing.',
      '../outside is outside the folder.',
      '/etc/passwd is outside the folder.',
      "folder can't be read (it is a folder).",
      'A line of SHA256SUMS is no entry: not a line',
    ]);
  });

  it.runIf(hasLinks)(
    'waits for no named pipe, in the list or instead of it',
    { timeout: 10_000 },
    async () => {
      execFileSync('mkfifo', [join(dir, 'pipe.pdf')]);
      await writeFile(join(dir, 'SHA256SUMS'), `${sha256('')}  pipe.pdf\n`);
      expect((await verify()).map((file) => file.error?.message)).toEqual([
        "pipe.pdf can't be read (what has this name is no ordinary file).",
      ]);
      await rm(join(dir, 'SHA256SUMS'));
      execFileSync('mkfifo', [join(dir, 'SHA256SUMS')]);
      await expect(verify()).rejects.toMatchObject({ code: 'USAGE' });
    },
  );

  it('needs a list', async () => {
    await expect(verify()).rejects.toMatchObject({ code: 'USAGE' });
  });
});

describe('the folders of a run', () => {
  const a = (...folder: string[]) => join(...folder, 'a.pdf');

  it.runIf(hasLinks)('belong to one run at a time, also by another way to them', async () => {
    const real = join(dir, 'real');
    await mkdir(join(real, 'below', 'deep'), { recursive: true });
    await symlink(real, join(dir, 'link'));
    const [one, other] = [new Folders(real), new Folders(join(dir, 'link'))];
    expect(await one.place(a(real))).toEqual({ had: false, part: `${a(real)}.part`, lasting: true });
    expect(await other.place(a(dir, 'link'))).toMatchObject({ had: true, lasting: false });
    const below = new Folders(join(real, 'below'));
    expect(await below.place(a(real, 'below'))).toMatchObject({ lasting: false });
    expect(await one.place(a(real, 'below'))).toMatchObject({ lasting: false });
    expect(await one.place(a(real, 'below', 'deep'))).toMatchObject({ lasting: false });
    await Promise.all([one.close(), other.close(), below.close()]);
    const third = new Folders(real);
    expect(await third.place(a(real, 'below', 'deep'))).toMatchObject({ lasting: true });
    await third.close();
    expect(await readdir(real)).toEqual(['below']);
  });

  it('are looked at, not made, and only those that were there', async () => {
    await mkdir(join(dir, 'Old', 'deep'), { recursive: true });
    await writeFile(join(dir, 'Old', 'A.pdf'), '');
    const folders = new Folders(`${dir}/./`);
    expect(await folders.place(a(dir, 'Old'))).toMatchObject({ had: true });
    expect(await folders.place(a(dir, 'new', 'deep'))).toMatchObject({ had: false });
    expect(await folders.place(a(dir, 'old', 'other'))).toMatchObject({ had: false });
    expect(await folders.place(a(dir))).toMatchObject({ had: false, lasting: true });
    await mkdir(join(dir, 'new', 'deep'), { recursive: true });
    folders.touched(join(dir, 'new', 'deep'));
    await folders.close();
    expect((await readdir(dir)).sort()).toEqual(['Old', 'new']);
  });

  it.runIf(hasLinks)('may be a link, but one below that is a link is not followed', async () => {
    await mkdir(join(dir, 'outside'));
    await mkdir(join(dir, 'real'));
    await symlink(join(dir, 'real'), join(dir, 'in'));
    await symlink(join(dir, 'outside'), join(dir, 'real', 'sub'));
    const folders = new Folders(join(dir, 'in'));
    expect(await folders.place(a(dir, 'in'))).toMatchObject({ lasting: true });
    await expect(folders.place(a(dir, 'in', 'sub'))).rejects.toMatchObject({ code: 'ELOOP' });
    await expect(folders.place(a(dir, 'in', 'sub', 'deep'))).rejects.toMatchObject({ code: 'ELOOP' });
    await folders.close();
    expect(await readdir(join(dir, 'outside'))).toEqual([]);
  });

  it('are tidied up after a run that was killed, not after one that lives', async () => {
    const guest = '.esign.00c0ffee.lock';
    const left = [
      'a.pdf.00c0ffee.part',
      'a.pdf.00c0ffee.part.json',
      'b.pdf.part.json',
      'mine.pdf.00c0ffee.part',
    ];
    for (const name of left) await writeFile(join(dir, name), '');
    const release = await lockFile(join(dir, guest), (pid) => new Error(pid));
    const look = async () => {
      const folders = new Folders(dir);
      await folders.place(a(dir));
      await folders.place(join(dir, 'b.pdf'));
      await folders.close();
      return (await readdir(dir)).sort();
    };
    expect(await look()).toEqual([guest, ...left].filter((name) => name !== 'b.pdf.part.json'));
    await release();
    await writeFile(join(dir, guest), '4194305 1');
    expect(await look()).toEqual(['mine.pdf.00c0ffee.part']);
  });
});
