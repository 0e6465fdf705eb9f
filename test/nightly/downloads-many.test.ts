import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { Home, jsonLines } from '../support/cli.ts';
import { type SeenRequest, startServer, type TestServer } from '../support/server.ts';

const COUNT = 80;
const WRONG = 41;
const home = new Home();
/** Some names are too long for a note next to their part file. */
const documents = Array.from({ length: COUNT }, (_, index) =>
  Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(index % 20 === 9 ? 1_200_000 : 5_000)]),
);
const keys = documents.map((_, index) => `org/env_${index}/signed.pdf`);
const hash = (algorithm: string, bytes: Uint8Array) => createHash(algorithm).update(bytes).digest('hex');
let bucket: TestServer;

beforeAll(async () => {
  bucket = await startServer((request, response) => {
    if (request.path.startsWith('/b/k/')) return strange(request, response);
    const index = Number(/env_(\d+)/.exec(request.path)?.[1]);
    const document = documents[index] ?? Buffer.alloc(0);
    const etag = `"${hash('md5', document)}"`;
    if (request.headers['if-none-match'] === etag) return void response.writeHead(304, { etag }).end();
    const body = Buffer.from(document);
    if (index === WRONG) body[2_000] = (body[2_000] ?? 0) ^ 1;
    response.writeHead(200, { etag, 'content-length': body.byteLength }).end(body);
  });
  const words = 'profiles add many --base-url http://127.0.0.1:9/v1 --api-key-file - --no-verify --bucket b';
  await home.run([...words.split(' '), '--endpoint', bucket.origin], { input: 'sk_0123456789\n' });
});
afterAll(async () => {
  await bucket.close();
  await home.close();
});

const foreign = Buffer.from('%PDF-1.7\nof somebody else');
/** A proxy that answers for the bucket, with success and a length, until it is removed. */
let between = true;
const strangers = new Map<string, Buffer>([
  ['k/login', Buffer.from('<html>Please sign in</html>')],
  ['k/proxy.pdf', foreign],
  ['k/sized', Buffer.from('<html></html>')],
]);

function strange(request: SeenRequest, response: ServerResponse): void {
  const right = documents[0] ?? foreign;
  const body = between ? (strangers.get(request.path.slice('/b/'.length)) ?? foreign) : right;
  const etag = between ? {} : { etag: `"${hash('md5', right)}"` };
  response
    .writeHead(200, { 'content-type': 'text/html', 'content-length': body.byteLength, ...etag })
    .end(body);
}

const env = { AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'us-east-1' };
const download = () =>
  home.run(argv`documents download - --dir many --wait 0s --json`, {
    env,
    input: `${keys.join('\n')}\n`,
  });

describe('many files', () => {
  it('are each verified; all but the wrong one are saved, in order, and not downloaded again', async () => {
    const earlier = bucket.seen.length;
    const { code, stdout } = await download();
    expect(code).toBe(10);
    expect(bucket.seen.slice(earlier)).toHaveLength(COUNT);
    const lines = jsonLines(stdout).filter(isRecord);
    expect(lines.map((line) => line.key)).toEqual(keys);
    expect(lines[WRONG]).toMatchObject({
      status: 'failed',
      error: { code: 'STORAGE_CORRUPT', message: expect.stringContaining('checksum') as unknown },
    });
    const right = documents.filter((_, index) => index !== WRONG);
    expect(lines.flatMap((line) => (line.status === 'downloaded' ? [line.sha256] : []))).toEqual(
      right.map((document) => hash('sha256', document)),
    );
    const names = await readdir(home.path('many'));
    expect(names).toHaveLength(COUNT);
    expect(names.filter((name) => !name.endsWith('.signed.pdf'))).toEqual(['SHA256SUMS']);
    expect(await readFile(home.path('many', 'env_7.signed.pdf'))).toEqual(documents[7]);
    expect((await home.shell('cd many && sha256sum -c --strict --quiet SHA256SUMS')).code).toBe(0);

    const seen = bucket.seen.length;
    const again = jsonLines((await download()).stdout).filter(isRecord);
    expect(again.filter((line) => line.status === 'unchanged')).toHaveLength(COUNT - 1);
    const conditional = bucket.seen.slice(seen).filter((request) => request.headers['if-none-match']);
    expect(conditional).toHaveLength(COUNT - 1);
  });

  it('are refused if the response is not from a bucket, however many there are', async () => {
    const all = [...keys, ...strangers.keys()].filter((_, index) => index !== WRONG);
    const run = async () => {
      const words = ['documents', 'download', '-', '--dir', 'strange', '--wait', '0s', '--json'];
      const { code, stdout } = await home.run(words, { env, input: `${all.join('\n')}\n` });
      return { code, lines: jsonLines(stdout).filter(isRecord) };
    };
    const first = await run();
    expect(first.code).toBe(10);
    const failed = first.lines.filter((line) => line.status === 'failed');
    expect(failed.map((line) => line.key)).toEqual([...strangers.keys()]);
    for (const { error } of failed)
      expect(error).toMatchObject({
        code: 'STORAGE_CORRUPT',
        message: expect.stringContaining('no ETag') as unknown,
      });
    const names = await readdir(home.path('strange'));
    expect(names.filter((name) => !name.endsWith('.signed.pdf'))).toEqual(['SHA256SUMS']);
    between = false;
    const healed = await run();
    expect(healed.code).toBe(0);
    expect(healed.lines.filter((line) => line.status === 'downloaded').map((line) => line.key)).toEqual([
      ...strangers.keys(),
    ]);
  });
});
