import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { factsOf } from '../../src/documents/bucket/object-facts.ts';
import { Shelf, syncFolders } from '../../src/documents/shelf.ts';
import { Slabs } from '../../src/documents/slabs.ts';

const hash = (algorithm: string, bytes: Uint8Array) => createHash(algorithm).update(bytes).digest('hex');
const pdf = (index: number) => Buffer.from(`%PDF-1.7\n${String(index).repeat(3_000)}`);
let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'esign-shelf-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const task = (name: string, bytes: Uint8Array, of = bytes) => ({
  key: name,
  facts: factsOf({ ETag: `"${hash('md5', of)}"` }, of.byteLength),
  bytes,
  path: join(dir, name),
  part: join(dir, `${name}.part`),
});

describe('whole objects', () => {
  it('are put under their names, in folders made for them', async () => {
    const shelf = new Shelf();
    const names = Array.from({ length: 40 }, (_, index) => `env_${index % 3}/${index}.pdf`);
    const put = await Promise.all(names.map((name, index) => shelf.put(task(name, pdf(index)))));
    expect(put).toEqual(
      names.map((_, index) => ({
        bytes: pdf(index).byteLength,
        sha256: hash('sha256', pdf(index)),
      })),
    );
    for (const [index, name] of names.entries()) expect(await readFile(join(dir, name))).toEqual(pdf(index));
    expect((await stat(join(dir, 'env_0/0.pdf'))).mode & 0o777).toBe(0o600);
    expect((await readdir(dir, { recursive: true })).filter((name) => name.endsWith('.part'))).toEqual([]);
    await syncFolders([dir, join(dir, 'env_0')]);
  });

  it('that are not what the bucket says leave nothing, and the others are there', async () => {
    const shelf = new Shelf();
    const wrong = Buffer.from(pdf(1));
    wrong[2_000] = (wrong[2_000] ?? 0) ^ 1;
    const [good, bad, short] = await Promise.allSettled([
      shelf.put(task('good.pdf', pdf(0))),
      shelf.put(task('bad.pdf', wrong, pdf(1))),
      shelf.put(task('short.pdf', pdf(2).subarray(1), pdf(2))),
    ]);
    expect(good.status).toBe('fulfilled');
    for (const one of [bad, short])
      expect(one).toMatchObject({ status: 'rejected', reason: { code: 'STORAGE_CORRUPT' } });
    expect(await readdir(dir)).toEqual(['good.pdf']);
  });

  it('touch nothing that is in their way', async () => {
    const shelf = new Shelf();
    await writeFile(join(dir, 'begun.pdf.part'), 'of an earlier run');
    await writeFile(join(dir, 'there.pdf'), 'mine');
    expect(await shelf.put(task('begun.pdf', pdf(0)))).toBe('occupied');
    expect(await shelf.put(task('there.pdf', pdf(1)))).toBe('occupied');
    expect(await readFile(join(dir, 'begun.pdf.part'), 'utf8')).toBe('of an earlier run');
    expect(await readFile(join(dir, 'there.pdf'), 'utf8')).toBe('mine');
    expect((await readdir(dir)).sort()).toEqual(['begun.pdf.part', 'there.pdf']);
  });

  it('that the disk refuses say why', async () => {
    const shelf = new Shelf();
    await writeFile(join(dir, 'file'), '');
    await expect(shelf.put(task('file/a.pdf', pdf(0)))).rejects.toMatchObject({ code: 'ENOTDIR' });
    await mkdir(join(dir, 'b.pdf.part'));
    expect(await shelf.put(task('b.pdf', pdf(0)))).toBe('occupied');
  });
});

describe('memory for objects', () => {
  it('is used again once it is given back, and only then', () => {
    const slabs = new Slabs();
    const one = slabs.take(20_000);
    const other = slabs.take(20_000);
    expect(other.bytes.buffer).not.toBe(one.bytes.buffer);
    one.release();
    one.release();
    const third = slabs.take(30_000);
    expect([third.bytes.buffer, third.bytes.byteLength]).toEqual([one.bytes.buffer, 30_000]);
    expect(slabs.take(30_000).bytes.buffer).not.toBe(one.bytes.buffer);
    expect(slabs.take(200_000).bytes.byteLength).toBe(200_000);
  });
});
