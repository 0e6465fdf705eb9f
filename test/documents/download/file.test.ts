import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DownloadFolder } from '../../../src/documents/archive/download-folder.ts';
import { safeFileName } from '../../../src/documents/archive/file-names.ts';
import { openBucket } from '../../../src/documents/bucket/bucket.ts';
import type { DownloadOptions } from '../../../src/documents/download/file.ts';
import { fileOfKey } from '../../../src/documents/download/targets.ts';
import { StorageError } from '../../../src/kernel/errors.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { downloadOne } from './download-one.ts';

const pdf = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(300_000, 'x')]);
const md5 = (bytes: Uint8Array) => createHash('md5').update(bytes).digest('hex');
const wanted = fileOfKey('esign/envelopes/org_1/env_1/signed.pdf');
let dir: string;
let server: TestServer | undefined;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'esign-download-'));
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  await rm(dir, { recursive: true, force: true });
});

/** Downloads from a bucket with the given responses. */
async function fetchFrom(
  answer: (response: ServerResponse) => void,
  force = false,
  run: Partial<Pick<DownloadOptions, 'folder'>> = {},
) {
  server ??= await startServer((_, response) => answer(response));
  const bucket = await openBucket({
    bucket: 'b',
    endpoint: server.origin,
    accessKeyId: 'AKID',
    secretAccessKey: 'secret',
  });
  try {
    return await downloadOne(bucket, wanted, { dir, force, ...run });
  } finally {
    bucket.close();
  }
}

const serve =
  (body: Uint8Array, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    void response
      .writeHead(200, { 'content-length': String(body.byteLength), etag: `"${md5(body)}"`, ...headers })
      .end(body);

describe('a download', () => {
  it('is saved complete under its name, with its hash', async () => {
    const result = await fetchFrom(serve(pdf));
    const sha256 = createHash('sha256').update(pdf).digest('hex');
    expect(result).toMatchObject({
      envelopeId: 'env_1',
      what: 'signed',
      status: 'downloaded',
      bytes: pdf.byteLength,
      sha256,
    });
    expect(await readFile(join(dir, 'env_1.signed.pdf'))).toEqual(pdf);
    expect(await readdir(dir)).toEqual(['env_1.signed.pdf']);
  });

  it('keeps another file that appears under its name in the meantime', async () => {
    const path = join(dir, 'env_1.signed.pdf');
    const answer = (response: ServerResponse) => {
      writeFileSync(path, 'of another run');
      serve(pdf)(response);
    };
    await expect(fetchFrom(answer)).rejects.toMatchObject({ code: 'STORAGE_LOCAL' });
    expect(await readFile(path, 'utf8')).toBe('of another run');
    expect(await fetchFrom(answer, true)).toMatchObject({ status: 'downloaded' });
    expect(await readFile(path)).toEqual(pdf);
  });

  it('is recorded in the list, as new only if it was saved', async () => {
    const folder = await DownloadFolder.open(dir, { hasList: true });
    const recorded = vi.spyOn(folder, 'record');
    await fetchFrom(serve(pdf), false, { folder });
    await fetchFrom(serve(pdf), false, { folder });
    await folder.close();
    expect(recorded.mock.calls.map(([, { isNew }]) => isNew)).toEqual([true, false]);
    expect(await readFile(join(dir, 'SHA256SUMS'), 'utf8')).toContain('env_1.signed.pdf');
  });

  it('is signed for the bucket, path style', async () => {
    await fetchFrom(serve(pdf));
    expect(server?.seen[0]?.path).toBe('/b/esign/envelopes/org_1/env_1/signed.pdf');
    expect(server?.seen[0]?.headers.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=AKID\//);
  });

  it('keeps an identical file and refuses a different one, unless forced', async () => {
    await fetchFrom(serve(pdf));
    expect(await fetchFrom(serve(pdf))).toMatchObject({ status: 'unchanged' });
    await writeFile(join(dir, 'env_1.signed.pdf'), 'mine');
    await expect(fetchFrom(serve(pdf))).rejects.toMatchObject({ code: 'STORAGE_LOCAL' });
    expect(await readFile(join(dir, 'env_1.signed.pdf'), 'utf8')).toBe('mine');
    expect(await fetchFrom(serve(pdf), true)).toMatchObject({ status: 'downloaded' });
    expect(await readdir(dir)).toEqual(['env_1.signed.pdf']);
  });

  it.each<[string, (response: ServerResponse) => void]>([
    [
      'fewer bytes than promised',
      (response) => {
        response.writeHead(200, { 'content-length': String(pdf.byteLength) });
        response.write(pdf.subarray(0, 100_000), () => response.destroy());
      },
    ],
    ['bytes of another object', serve(pdf, { etag: `"${md5(Buffer.from('other'))}"` })],
    ['a login page', serve(Buffer.from('<html>Sign in</html>'))],
    [
      'no content length',
      (response) => {
        response.writeHead(200, { etag: '"x"' });
        response.end(pdf);
      },
    ],
  ])('refuses a download with %s and leaves nothing behind', async (_, answer) => {
    const error: unknown = await fetchFrom(answer).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StorageError);
    expect(await readdir(dir)).toEqual([]);
  });
});

describe('file names', () => {
  it.each([
    ['a/../../x', 'x'],
    ['..\\..\\x', '_.____.__x'],
    ['/etc/passwd', 'passwd'],
    ['dir/CON.pdf', '_CON.pdf'],
    ['dir/.hidden', '_hidden'],
    ['dir/a\u202Efdp.exe', 'a_fdp.exe'],
    ['dir/..', '_'],
  ])('keeps %j in its folder', (key, name) => {
    const { fileName } = fileOfKey(key);
    expect(fileName).not.toMatch(/[/\\]|^\.\.?$/);
    if (!name.includes('__')) expect(fileName).toBe(name);
  });

  it('have at most 200 bytes', () => {
    expect(Buffer.byteLength(safeFileName('李'.repeat(300)))).toBeLessThanOrEqual(200);
  });
});
