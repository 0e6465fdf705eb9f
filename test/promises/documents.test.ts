import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { Home, jsonLines } from '../support/cli.ts';
import { startServer, type TestServer } from '../support/server.ts';

const pdf = Buffer.from('%PDF-1.7\nof a contract');
const etag = `"${createHash('md5').update(pdf).digest('hex')}"`;
const AWS = { AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'us-east-1' };
const SERVICE = { ESIGN_BASE_URL: 'http://127.0.0.1:9/v1', ESIGN_API_KEY: 'sk_0123456789' };
const home = new Home();
let bucket: TestServer;
/** A bucket that is configured only in the environment. */
let env: Record<string, string>;

beforeAll(async () => {
  bucket = await startServer((request, response) => {
    if (request.path.includes('missing')) return void response.writeHead(404).end();
    if (request.headers['if-none-match'] === etag) return void response.writeHead(304, { etag }).end();
    response.writeHead(200, { etag, 'content-length': pdf.byteLength }).end(pdf);
  });
  env = { ...AWS, ...SERVICE, ESIGN_BUCKET: 'b', ESIGN_BUCKET_ENDPOINT: bucket.origin };
});
afterAll(async () => {
  await bucket.close();
  await home.close();
});

const download = (words: string, input = '') =>
  home.run(['documents', 'download', ...words.split(' ')], { env, input });

describe('a bucket without a profile', () => {
  it('can be set in the environment, with its region', async () => {
    const seen = bucket.seen.length;
    const named = { ...env, ESIGN_BUCKET_REGION: 'eu-test-7' };
    const { code } = await home.run(argv`documents head a.pdf`, { env: named });
    expect(code).toBe(0);
    expect(bucket.seen[seen]?.path).toBe('/b/a.pdf');
    expect(bucket.seen[seen]?.headers.authorization).toContain('/eu-test-7/s3/');
  });

  it('is reported with a fix if it is not set', async () => {
    const { code, stderr } = await home.run(argv`documents head a.pdf`, { env: { ...AWS, ...SERVICE } });
    expect([code, stderr]).toEqual([9, expect.stringContaining('ESIGN_BUCKET')]);
  });
});

describe('an endpoint that carries a password', () => {
  const secret = 'hunter2hunter2';
  const at = {
    ...AWS,
    ...SERVICE,
    ESIGN_BUCKET: 'b',
    AWS_ENDPOINT_URL_S3: `http://user:${secret}@127.0.0.1:9`,
  };

  it.each([
    'documents head a b --json',
    'documents head a b',
    'documents head a --json',
    'documents download a b --wait 0s --json',
    'documents download a b --wait 0s',
    'documents link a b --json',
  ])('is not shown by %s', async (words) => {
    const { code, stdout, stderr } = await home.run(words.split(' '), { env: at });
    expect(code).toBeGreaterThan(0);
    expect(`${stdout}${stderr}`).not.toContain(secret);
    expect(`${stdout}${stderr}`).toContain('redacted');
  });
});

describe('a storage key', () => {
  it('is used with its spaces and tabs', async () => {
    const seen = bucket.seen.length;
    await home.run(argv`documents download ${' a\tb .pdf'} --dir odd`, { env });
    await download('- --dir odd --force', '" c\\td .pdf"\n');
    expect(bucket.seen.slice(seen).map((request) => request.path)).toEqual([
      '/b/%20a%09b%20.pdf',
      '/b/%20c%09d%20.pdf',
    ]);
  });
});

describe('--wait', () => {
  it('limits the wait for all files of a command together', async () => {
    const keys = Array.from({ length: 12 }, (_, index) => `missing/${index}`).join(' ');
    const before = bucket.seen.length;
    const { code } = await download(`${keys} --dir waited --wait 2s --concurrency 2`);
    expect(code).toBe(9);
    // Each second for the first two, and once for the others.
    expect(bucket.seen.length - before).toBeLessThanOrEqual(2 * 3 + 10);
  });
});

describe('the folder of a download', () => {
  it('is never left through a link in it', async () => {
    await mkdir(home.path('linked'));
    await mkdir(home.path('outside'));
    await symlink('../outside', home.path('linked', 'k'));
    const { code, stderr } = await download('k/a.pdf --dir linked --name-template {key}');
    expect([code, stderr]).toEqual([9, expect.stringContaining('a symbolic link')]);
    expect(await readdir(home.path('outside'))).toEqual([]);
  });

  it('is refused before anything is downloaded if its list is a folder', async () => {
    await mkdir(home.path('listed', 'SHA256SUMS'), { recursive: true });
    const seen = bucket.seen.length;
    const { code, stderr } = await download('a.pdf --dir listed');
    expect([code, stderr]).toEqual([2, expect.stringContaining('it is a folder')]);
    expect(bucket.seen).toHaveLength(seen);
    expect(await readdir(home.path('listed'))).toEqual(['SHA256SUMS']);
  });

  it.runIf(process.platform === 'linux')(
    'is reported if it can’t be created, and not retried forever',
    async () => {
      const { code, stderr } = await download('a.pdf --dir /proc/nowhere');
      expect([code, stderr]).toEqual([9, expect.stringContaining("Can't write /proc/nowhere")]);
    },
  );

  it("doesn't block with a named pipe in place of the file", async () => {
    await mkdir(home.path('piped'));
    execFileSync('mkfifo', [home.path('piped', 'a.pdf')]);
    const { code, stderr } = await download('a.pdf --dir piped');
    expect([code, stderr]).toEqual([9, expect.stringContaining('not a regular file')]);
  });

  it("is intact after a run whose list couldn't be written", async () => {
    await download('a.pdf --dir again');
    await writeFile(home.path('again', 'SHA256SUMS'), '');
    const { code, stdout } = await download('a.pdf b.pdf --dir again --json');
    expect(code).toBe(0);
    expect(
      jsonLines(stdout)
        .filter(isRecord)
        .map((line) => line.status),
    ).toEqual(['unchanged', 'downloaded']);
    expect(await readFile(home.path('again', 'SHA256SUMS'), 'utf8')).toMatch(/a\.pdf\n.*b\.pdf\n/);
  });
});
