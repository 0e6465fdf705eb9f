import { createHash, createHmac } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignatureV4 } from '@smithy/signature-v4';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bucket, openBucket } from '../../src/documents/bucket/bucket.ts';
import { downloadFile } from '../../src/documents/download/file.ts';
import { fileOfKey } from '../../src/documents/download/papers.ts';
import { encodePath, Signer } from '../../src/documents/sigv4.ts';
import { fakeClock } from '../support/clock.ts';
import { type SeenRequest, startServer, type TestServer } from '../support/server.ts';

const pdf = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(1_000, 'x')]);
const etag = `"${createHash('md5').update(pdf).digest('hex')}"`;
/** The SDK says which of its operations a request is; the lane has no reason to. */
const byLane = (request: SeenRequest) => !request.query.has('x-id');

let dir: string;
let server: TestServer;
let bucket: Bucket;
let failing: number[] = [];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'esign-lane-'));
  failing = [];
  server = await startServer((_, response) => {
    const status = failing.shift();
    if (status === 0) response.destroy();
    else if (status !== undefined) response.writeHead(status).end();
    else response.writeHead(200, { 'content-length': pdf.byteLength, etag }).end(pdf);
  });
  bucket = await openBucket({
    bucket: 'b',
    endpoint: server.origin,
    region: 'eu-test-1',
    accessKeyId: 'AKID',
    secretAccessKey: 's',
  });
});
afterEach(async () => {
  bucket.close();
  await server.close();
  await rm(dir, { recursive: true, force: true });
});

const download = (name: string) =>
  downloadFile(bucket, fileOfKey(name), { dir, force: false, clock: fakeClock() });

describe('the way that the SDK has shown', () => {
  it('is taken by the requests after it, signed for the same region', async () => {
    await download('été/a b.pdf');
    await download('été/c+d.pdf');
    expect(server.seen.map(byLane)).toEqual([false, true]);
    expect(server.seen[1]?.path).toBe('/b/%C3%A9t%C3%A9/c%2Bd.pdf');
    expect(server.seen[1]?.headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/eu-test-1\/s3\/aws4_request, SignedHeaders=host;x-amz-checksum-mode;x-amz-content-sha256;x-amz-date,/,
    );
  });

  it.each([[403], [404], [503], [307], [0]])(
    'is left when the answer is %i: the SDK asks once more',
    async (status) => {
      await download('a.pdf');
      failing = [status];
      expect(await download('b.pdf')).toMatchObject({ status: 'downloaded' });
      expect(server.seen.map(byLane)).toEqual([false, true, false]);
      failing = [404, 404];
      await expect(download('c.pdf')).rejects.toMatchObject({ code: 'STORAGE_NOT_FOUND' });
      expect((await readdir(dir)).sort()).toEqual(['a.pdf', 'b.pdf']);
    },
  );

  it('ends with the signal', async () => {
    await download('a.pdf');
    const controller = new AbortController();
    controller.abort(new Error('stopped'));
    const options = { dir, force: false, clock: fakeClock(), signal: controller.signal };
    await expect(downloadFile(bucket, fileOfKey('b.pdf'), options)).rejects.toThrow('stopped');
  });
});

describe('a signature', () => {
  const bytes = (data: string | ArrayBuffer | ArrayBufferView) => {
    if (typeof data === 'string') return Buffer.from(data);
    return ArrayBuffer.isView(data)
      ? Buffer.from(data.buffer, data.byteOffset, data.byteLength)
      : Buffer.from(data);
  };

  class Sha256 {
    private readonly hash;
    constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
      this.hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytes(secret));
    }
    update(data: string | ArrayBuffer | ArrayBufferView): void {
      this.hash.update(bytes(data));
    }
    digest(): Promise<Uint8Array> {
      return Promise.resolve(this.hash.digest());
    }
  }

  it.each([
    'plain.pdf',
    "a b/c&d=e;f,g@h!~*'().pdf",
    '日本/契約.pdf',
    '100%/a%2Fb.pdf',
    'deep//double/./x.pdf',
  ])('of %s is the one that the SDK makes', async (key) => {
    const keys = { accessKeyId: 'AKID', secretAccessKey: 'secret', sessionToken: 'token' };
    const at = Date.UTC(2026, 2, 9, 1, 2, 3);
    const path = `/b/${encodePath(key)}`;
    const extra = { 'x-amz-checksum-mode': 'ENABLED' };
    const ours = new Signer('eu-test-1').sign('s3.test:9000', path, extra, keys, at);
    const sdk = new SignatureV4({
      service: 's3',
      region: 'eu-test-1',
      credentials: keys,
      sha256: Sha256,
      uriEscapePath: false,
    });
    const { authorization: _, ...headers } = ours;
    const theirs = await sdk.sign(
      { method: 'GET', protocol: 'http:', hostname: 's3.test', path, headers },
      { signingDate: new Date(at) },
    );
    expect(ours.authorization).toBe(theirs.headers.authorization);
  });
});
