import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/kernel/json.ts';
import { Home, jsonLines } from '../support/cli.ts';
import { startServer, type TestServer } from '../support/server.ts';

/** Enough for the thread that proves files beside their fetching. */
const COUNT = 80;
const WRONG = 41;
const home = new Home();
/** Some too large to come in one piece. */
const papers = Array.from({ length: COUNT }, (_, index) =>
  Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(index % 20 === 9 ? 700_000 : 5_000)]),
);
const keys = papers.map((_, index) => `org/env_${index}/signed.pdf`);
const hash = (algorithm: string, bytes: Uint8Array) => createHash(algorithm).update(bytes).digest('hex');
let bucket: TestServer;

beforeAll(async () => {
  bucket = await startServer((request, response) => {
    const index = Number(/env_(\d+)/.exec(request.path)?.[1]);
    const paper = papers[index] ?? Buffer.alloc(0);
    const etag = `"${hash('md5', paper)}"`;
    if (request.headers['if-none-match'] === etag) return void response.writeHead(304, { etag }).end();
    const body = Buffer.from(paper);
    if (index === WRONG) body[2_000] = (body[2_000] ?? 0) ^ 1;
    response.writeHead(200, { etag, 'content-length': body.byteLength }).end(body);
  });
  const words = [
    'profiles',
    'add',
    'many',
    '--base-url',
    'http://127.0.0.1:9/v1',
    '--api-key-stdin',
    '--no-verify',
  ];
  await home.run([...words, '--bucket', 'b', '--endpoint', bucket.origin], { input: 'sk_0123456789\n' });
});
afterAll(async () => {
  await bucket.close();
  await home.close();
});

const env = { AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'us-east-1' };
const download = () =>
  home.run(['documents', 'download', '-', '--dir', 'many', '--wait', '0s', '--json'], {
    env,
    input: `${keys.join('\n')}\n`,
  });

describe('many files', () => {
  it('are each proven: all but the wrong one are there, in order, and nothing else', async () => {
    const { code, stdout } = await download();
    expect(code).toBe(10);
    // One request of the SDK shows the way; its own name for it is in its address.
    expect(bucket.seen.filter((request) => request.query.has('x-id'))).toHaveLength(1);
    const lines = jsonLines(stdout).filter(isRecord);
    expect(lines.map((line) => line.key)).toEqual(keys);
    expect(lines[WRONG]).toMatchObject({
      status: 'failed',
      error: { code: 'STORAGE_CORRUPT', message: expect.stringContaining('checksum') as unknown },
    });
    const right = papers.filter((_, index) => index !== WRONG);
    expect(lines.flatMap((line) => (line.status === 'downloaded' ? [line.sha256] : []))).toEqual(
      right.map((paper) => hash('sha256', paper)),
    );
    const names = await readdir(home.path('many'));
    expect(names).toHaveLength(COUNT);
    expect(names.filter((name) => !name.endsWith('.signed.pdf'))).toEqual(['SHA256SUMS']);
    expect(await readFile(home.path('many', 'env_7.signed.pdf'))).toEqual(papers[7]);
    expect((await home.shell('cd many && sha256sum -c --strict --quiet SHA256SUMS')).code).toBe(0);
  });

  it('that are there are not fetched again', async () => {
    const seen = bucket.seen.length;
    const lines = jsonLines((await download()).stdout).filter(isRecord);
    expect(lines.filter((line) => line.status === 'unchanged')).toHaveLength(COUNT - 1);
    const conditional = bucket.seen.slice(seen).filter((request) => request.headers['if-none-match']);
    expect(conditional).toHaveLength(COUNT - 1);
  });
});
