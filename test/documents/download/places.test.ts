import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { fstatSync } from 'node:fs';
import { link, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openBucket } from '../../../src/documents/bucket/bucket.ts';
import { fileOfKey } from '../../../src/documents/download/targets.ts';
import { PdfBytes } from '../../../src/documents/seal/pdf-bytes.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { hasLinks } from '../../support/system.ts';
import { downloadOne } from './download-one.ts';

/** Large enough for a note next to the part file. */
const pdf = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(1_500_000, 'x')]);
const etag = `"${createHash('md5').update(pdf).digest('hex')}"`;
let top: string;
let dir: string;
let server: TestServer;

beforeEach(async () => {
  top = await mkdtemp(join(tmpdir(), 'esign-places-'));
  dir = join(top, 'dl');
  await mkdir(dir);
  await writeFile(join(top, 'victim'), 'mine');
  server = await startServer((_, response) => {
    response.writeHead(200, { 'content-length': pdf.byteLength, etag }).end(pdf);
  });
});
afterEach(async () => {
  await server.close();
  await rm(top, { recursive: true, force: true });
});

async function download(force = false) {
  const settings = { bucket: 'b', endpoint: server.origin, accessKeyId: 'A', secretAccessKey: 's' };
  const bucket = await openBucket(settings);
  try {
    return await downloadOne(bucket, fileOfKey('l/s.pdf'), { dir, force });
  } finally {
    bucket.close();
  }
}

const ORDINARY = 'it is not a regular file';

describe('an existing entry at the place of a file', () => {
  it.runIf(hasLinks).each<[string, string[]]>([
    ['alone', []],
    ['next to a part file', ['s.pdf.part']],
  ])('replaces a link in place of the note, %s, and leaves its target unchanged', async (_, others) => {
    for (const name of others) await writeFile(join(dir, name), '');
    await symlink('../victim', join(dir, 's.pdf.part.json'));
    expect(await download()).toMatchObject({ status: 'downloaded' });
    expect(await readFile(join(top, 'victim'), 'utf8')).toBe('mine');
    expect(await readdir(dir)).toEqual(['s.pdf']);
  });

  it.runIf(hasLinks).each(['s.pdf', 's.pdf.part'])(
    'is not blocked by a named pipe (%s), which is not a file',
    async (name) => {
      execFileSync('mkfifo', [join(dir, name)]);
      const refused = { code: 'STORAGE_LOCAL', message: expect.stringContaining(ORDINARY) as unknown };
      await expect(download()).rejects.toMatchObject(refused);
      await expect(download(true)).rejects.toMatchObject(refused);
      expect(await readdir(dir)).toEqual([name]);
    },
  );

  it("doesn't write to a second name of a file elsewhere", async () => {
    await link(join(top, 'victim'), join(dir, 's.pdf.part'));
    await expect(download()).rejects.toMatchObject({ code: 'STORAGE_LOCAL' });
    expect(await readFile(join(top, 'victim'), 'utf8')).toBe('mine');
  });

  it.runIf(hasLinks)('refuses a link in place of the part file', async () => {
    await symlink('../victim', join(dir, 's.pdf.part'));
    await expect(download()).rejects.toMatchObject({ code: 'STORAGE_LOCAL' });
    expect(await readFile(join(top, 'victim'), 'utf8')).toBe('mine');
  });
});

describe('the seal of a download', () => {
  it.each(['downloaded', 'unchanged'])('is read from the saved bytes (%s)', async (status) => {
    if (status === 'unchanged') {
      await writeFile(join(dir, 's.pdf'), pdf);
      await server.close();
      server = await startServer((_, response) => void response.writeHead(304, { etag }).end());
    }
    const open = PdfBytes.open.bind(PdfBytes);
    const sources: unknown[] = [];
    const spy = vi.spyOn(PdfBytes, 'open').mockImplementation((source) => {
      sources.push(typeof source === 'number' ? fstatSync(source).size : source);
      return open(source);
    });
    expect(await download()).toMatchObject({ status });
    spy.mockRestore();
    expect(sources).toEqual([pdf.byteLength]);
  });
});
