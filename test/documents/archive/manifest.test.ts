import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readSync, renameSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DownloadFolder } from '../../../src/documents/archive/download-folder.ts';
import { updateManifest } from '../../../src/documents/archive/manifest.ts';
import { type VerifiedFile, verifyDocuments } from '../../../src/documents/archive/verify.ts';
import { PdfBytes } from '../../../src/documents/seal/pdf-bytes.ts';
import { fakeClock } from '../../support/clock.ts';
import { hasLinks } from '../../support/system.ts';
import { needs } from '../../support/tools.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'esign-manifest-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const UNKNOWN = { authorities: [], pinned: [] };
const list = () => readFile(join(dir, 'SHA256SUMS'), 'utf8');

function readPart(file: number): string {
  const part = Buffer.alloc(20);
  return part.toString('latin1', 0, readSync(file, part, 0, part.length, 0));
}

async function verify(): Promise<VerifiedFile[]> {
  const files: VerifiedFile[] = [];
  for await (const file of verifyDocuments([dir], { known: UNKNOWN })) files.push(file);
  return files;
}

describe('SHA256SUMS', () => {
  it('can be read by sha256sum, with any name', needs('sha256sum'), async () => {
    const names = ['plain.pdf', 'sub/日本 é.pdf', 'back\\slash', 'line\nbreak', ' blank'];
    await mkdir(join(dir, 'sub'));
    for (const name of names) await writeFile(join(dir, name), name);
    await updateManifest(dir, new Map(names.map((name) => [name, sha256(name)])));
    expect(() => execFileSync('sha256sum', ['-c', '--strict', 'SHA256SUMS'], { cwd: dir })).not.toThrow();
    const own = execFileSync('sha256sum', names, { cwd: dir, encoding: 'utf8' });
    expect((await list()).trimEnd().split('\n').sort()).toEqual(own.trimEnd().split('\n').sort());
    expect((await verify()).map((file) => file.list)).toEqual(names.map(() => 'ok'));
  });

  it('compares and judges the same bytes, and fails a file that is replaced or modified meanwhile', async () => {
    const path = join(dir, 'a.pdf');
    const swaps = {
      replaced: () => renameSync(join(dir, 'other'), path),
      written: () => writeFileSync(path, '%PDF-other'),
    };
    for (const swap of Object.values(swaps)) {
      await writeFile(path, '%PDF-listed');
      await writeFile(join(dir, 'other'), '%PDF-other');
      await updateManifest(dir, new Map([['a.pdf', sha256('%PDF-listed')]]));
      const judged: string[] = [];
      const open = PdfBytes.open.bind(PdfBytes);
      const spy = vi.spyOn(PdfBytes, 'open').mockImplementation((source) => {
        judged.push(typeof source === 'number' ? readPart(source) : 'opened again');
        swap();
        return open(source);
      });
      const found: VerifiedFile[] = [];
      for await (const file of verifyDocuments([path], { known: UNKNOWN })) found.push(file);
      spy.mockRestore();
      expect(judged).toEqual(['%PDF-listed']);
      expect(found[0]?.error?.code).toBe('STORAGE_CORRUPT');
    }
  });

  it('replaces its own lines and keeps those of others', async () => {
    const foreign = `# mine\n${sha256('x')} *other.iso\n`;
    await writeFile(join(dir, 'SHA256SUMS'), foreign);
    await updateManifest(dir, new Map([['a.pdf', sha256('1')]]));
    await updateManifest(dir, new Map([['a.pdf', sha256('2')]]));
    expect(await list()).toBe(`${foreign}${sha256('2')}  a.pdf\n`);
  });

  it('stores ETags that are not MD5, for exactly the bytes they were received with', async () => {
    const ledger = await DownloadFolder.open(dir, { hasList: true });
    await ledger.record(join(dir, 'a.pdf'), { sha256: sha256('a'), etag: '"abc-3"', isNew: false });
    await ledger.record(join(dir, 'b.pdf'), { sha256: sha256('b'), etag: undefined, isNew: false });
    await ledger.close();
    const later = await DownloadFolder.open(dir, { hasList: true });
    expect(await later.check(join(dir, 'a.pdf'))).toEqual({
      listed: sha256('a'),
      saved: { sha256: sha256('a'), etag: '"abc-3"' },
    });
    expect(await later.check(join(dir, 'b.pdf'))).toEqual({ listed: sha256('b'), saved: undefined });
    await later.close();
  });
});

describe("a list that can't be written", () => {
  it('fails with a message, and contains every file as soon as it can be written', async () => {
    const ledger = await DownloadFolder.open(dir, { hasList: true });
    await mkdir(join(dir, 'SHA256SUMS', 'in-the-way'), { recursive: true });
    // More than are written together.
    for (let index = 0; index < 501; index++)
      await ledger.record(join(dir, `${index}`), { sha256: sha256('x'), etag: '"e"', isNew: false });
    await expect(ledger.flush()).rejects.toMatchObject({
      code: expect.stringMatching(/STORAGE_LOCAL|USAGE/) as unknown,
    });
    await rm(join(dir, 'SHA256SUMS'), { recursive: true });
    await ledger.record(join(dir, 'last'), { sha256: sha256('x'), etag: undefined, isNew: false });
    await ledger.close();
    expect((await list()).trimEnd().split('\n')).toHaveLength(502);
    expect((await readdir(dir)).sort()).toEqual(['.esign-etags.json', 'SHA256SUMS']);
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
      expect.stringMatching(/^bad was changed: .*SHA256SUMS/),
      'gone is missing.',
      expect.stringMatching(/^folder can't be read/),
      'SHA256SUMS: ../outside is outside the folder.',
      'SHA256SUMS: /etc/passwd is outside the folder.',
      'SHA256SUMS: Invalid line: not a line',
    ]);
  });

  it.runIf(hasLinks)("doesn't block on a named pipe, in the list or instead of it", async () => {
    execFileSync('mkfifo', [join(dir, 'pipe.pdf')]);
    await writeFile(join(dir, 'SHA256SUMS'), `${sha256('')}  pipe.pdf\n`);
    expect((await verify()).map((file) => file.error?.message)).toEqual([
      expect.stringMatching(/^pipe\.pdf .*not a regular file/),
    ]);
    await rm(join(dir, 'SHA256SUMS'));
    execFileSync('mkfifo', [join(dir, 'SHA256SUMS')]);
    await expect(verify()).rejects.toMatchObject({ code: 'USAGE' });
  });

  it('requires a list', async () => {
    await expect(verify()).rejects.toMatchObject({ code: 'USAGE' });
  });
});

describe('the folder of a run', () => {
  const a = (...folder: string[]) => join(...folder, 'a.pdf');
  const IN_USE = { code: 'STORAGE_LOCAL', message: expect.stringContaining(String(process.pid)) as unknown };
  const open = (folder: string, onlyFile?: string) =>
    DownloadFolder.open(folder, { onlyFile, hasList: false, clock: fakeClock() });

  it.runIf(hasLinks)(
    'is refused to a second run, also through another path, a parent, or a subfolder',
    async () => {
      const real = join(dir, 'real');
      await mkdir(join(real, 'below', 'deep'), { recursive: true });
      await symlink(real, join(dir, 'link'));
      const one = await open(join(real, 'below'));
      await expect(open(join(real, 'below'))).rejects.toMatchObject(IN_USE);
      await expect(open(join(dir, 'link', 'below'))).rejects.toMatchObject(IN_USE);
      await expect(open(join(real, 'below', 'deep'))).rejects.toMatchObject({ code: 'STORAGE_LOCAL' });
      const above = await open(real);
      await above.check(a(real));
      await expect(above.check(a(real, 'below'))).rejects.toMatchObject({ code: 'STORAGE_LOCAL' });
      await Promise.all([one.close(), above.close()]);
      const later = await open(real);
      await later.check(a(real, 'below', 'deep'));
      await later.close();
      expect(await readdir(real)).toEqual(['below']);
    },
  );

  it('is shared by runs that write one file each, but no file is', async () => {
    const [one, other] = [await open(dir, 'a.pdf'), await open(dir, 'b.pdf')];
    await one.check(a(dir));
    await expect(open(dir, 'a.pdf')).rejects.toMatchObject(IN_USE);
    const all = await open(dir);
    await expect(all.check(a(dir))).rejects.toMatchObject({ code: 'STORAGE_LOCAL' });
    await all.check(join(dir, 'c.pdf'));
    await expect(open(dir, 'd.pdf')).rejects.toMatchObject({ code: 'STORAGE_LOCAL' });
    await Promise.all([one.close(), other.close(), all.close()]);
    expect(await readdir(dir)).toEqual([]);
  });

  it('is available again after a run was killed', async () => {
    await writeFile(join(dir, '.esign.lock'), '4194305 1');
    await (await open(dir)).close();
    expect(await readdir(dir)).toEqual([]);
  });

  it('lets a second run wait for a short one', async () => {
    const first = await DownloadFolder.open(dir, { hasList: true });
    const second = DownloadFolder.open(dir, { hasList: true });
    await first.close();
    await (await second).close();
  });

  it.runIf(hasLinks)('may be a link, but links inside it are not followed', async () => {
    await mkdir(join(dir, 'outside'));
    await mkdir(join(dir, 'real'));
    await symlink(join(dir, 'real'), join(dir, 'in'));
    await symlink(join(dir, 'outside'), join(dir, 'real', 'sub'));
    const folders = await open(join(dir, 'in'));
    await folders.check(a(dir, 'in'));
    await expect(folders.check(a(dir, 'in', 'sub'))).rejects.toMatchObject({ code: 'ELOOP' });
    await expect(folders.check(a(dir, 'in', 'sub', 'deep'))).rejects.toMatchObject({ code: 'ELOOP' });
    await folders.close();
    expect(await readdir(join(dir, 'outside'))).toEqual([]);
  });
});
