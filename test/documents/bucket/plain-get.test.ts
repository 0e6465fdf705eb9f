import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { SignatureV4 } from '@smithy/signature-v4';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bucket, openBucket } from '../../../src/documents/bucket/bucket.ts';
import { type SeenRequest, startServer, type TestServer } from '../../support/server.ts';

const SKEWED = '<Error><Code>RequestTimeTooSkewed</Code><Message>off</Message></Error>';
/** The SDK names its operation in each request; a plain request has no such header. */
const isPlain = (request: SeenRequest) => !request.query.has('x-id');

let server: TestServer;
let bucket: Bucket;
/** The statuses of the next plain requests; 0 breaks the connection. */
let failing: number[];
let late = 0;

beforeEach(async () => {
  failing = [];
  late = 0;
  server = await startServer((request, response) => {
    const status = isPlain(request) ? failing.shift() : undefined;
    const date = new Date(Date.now() + late).toUTCString();
    const skewed = Math.abs(Date.now() + late - timeOf(request)) > 900_000;
    if (status === 0) response.destroy();
    else if (skewed) response.writeHead(403, { date, 'content-type': 'application/xml' }).end(SKEWED);
    else response.writeHead(status ?? 200, { date, 'content-length': 1, etag: '"e"' }).end('x');
  });
  bucket = await openBucket(
    { bucket: 'b', endpoint: server.origin, region: 'eu-test-1', accessKeyId: 'AKID', secretAccessKey: 's' },
    { timeoutMs: 30_000 },
  );
});
afterEach(async () => {
  bucket.close();
  await server.close();
});

const timeOf = ({ headers }: SeenRequest) => signedAt(String(headers['x-amz-date'])).getTime();

function signedAt(stamp: string): Date {
  return new Date(stamp.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'));
}

async function read(key: string): Promise<string> {
  const opened = await bucket.open(key);
  if (opened.kind !== 'object') return opened.kind;
  let text = '';
  for await (const chunk of opened.body) text += Buffer.from(chunk).toString();
  return text;
}

describe('a GET without the layers of the SDK', () => {
  it.each([
    'plain.pdf',
    'été/c+d.pdf',
    "a b/c&d=e;f,g@h!~*'().pdf",
    '日本/契約.pdf',
    '100%/a%2Fb.pdf',
    'deep//double/x.pdf',
  ])('requests %j with the same path and signature as the SDK', async (key) => {
    failing = [503];
    expect(await read(key)).toBe('x');
    const [plain, sdk] = server.seen;
    expect(server.seen.map(isPlain)).toEqual([true, false]);
    expect(plain?.path).toBe(sdk?.path);
    expect(plain?.headers.authorization).toMatch(/Credential=AKID\/\d{8}\/eu-test-1\/s3\/aws4_request/);
    expect(await signatureOf(plain)).toBe(plain?.headers.authorization);
  });

  it.each([[503], [500], [0]])(
    "counts a failure with %i as the SDK's first try, and the SDK retries",
    async (status) => {
      failing = [status];
      expect(await read('a.pdf')).toBe('x');
      expect(await read('b.pdf')).toBe('x');
      expect(server.seen.map(isPlain)).toEqual([true, false, true]);
    },
  );

  it.each<[number, string]>([
    [403, 'STORAGE_DENIED'],
    [404, 'STORAGE_NOT_FOUND'],
    [307, 'STORAGE_UNREACHABLE'],
  ])('lets the SDK report a refusal with %i without another request', async (status, code) => {
    failing = [status];
    await expect(read('a.pdf')).rejects.toMatchObject({ code });
    expect(server.seen).toHaveLength(1);
  });

  it.each<[number, string]>([
    [304, 'same'],
    [412, 'changed'],
    [416, 'changed'],
  ])('reports a response with status %i as is', async (status, kind) => {
    failing = [status];
    expect(await read('a.pdf')).toBe(kind);
    expect(server.seen).toHaveLength(1);
  });

  it("uses the bucket's clock once the SDK has detected clock skew", async () => {
    late = 3_600_000;
    expect(await read('a.pdf')).toBe('x');
    const before = server.seen.length;
    expect(await read('b.pdf')).toBe('x');
    expect(server.seen.slice(before).map(isPlain)).toEqual([true]);
  });

  it('stops when the signal aborts', async () => {
    const controller = new AbortController();
    controller.abort(new Error('stopped'));
    await expect(bucket.open('b.pdf', { signal: controller.signal })).rejects.toThrow('stopped');
    expect(server.seen).toEqual([]);
  });
});

/** Returns the SDK signer's result for a received request. */
async function signatureOf(request: SeenRequest | undefined): Promise<string | undefined> {
  if (request === undefined) return undefined;
  const names = /SignedHeaders=([^,]+)/.exec(String(request.headers.authorization))?.[1]?.split(';') ?? [];
  const headers = Object.fromEntries(names.map((name) => [name, String(request.headers[name])]));
  const signer = new SignatureV4({
    service: 's3',
    region: 'eu-test-1',
    credentials: { accessKeyId: 'AKID', secretAccessKey: 's' },
    sha256: Sha256,
    uriEscapePath: false,
  });
  const { hostname, port } = new URL(server.origin);
  const signed = await signer.sign(
    { method: 'GET', protocol: 'http:', hostname, port: Number(port), path: request.path, headers },
    { signingDate: signedAt(String(request.headers['x-amz-date'])) },
  );
  return signed.headers.authorization;
}

const bytes = (data: string | ArrayBuffer | ArrayBufferView) => {
  if (typeof data === 'string') return Buffer.from(data);
  return ArrayBuffer.isView(data)
    ? Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    : Buffer.from(data);
};

class Sha256 {
  readonly #hash;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytes(secret));
  }
  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytes(data));
  }
  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }
}

describe("a bucket's error response", () => {
  it.each([
    ['endless', (response: ServerResponse) => flood(response)],
    ['stalled', (response: ServerResponse) => void response.writeHead(403).write('<Error>')],
  ])('ends the request if it is %s', async (_, answer) => {
    const [endless, sockets] = [createServer((_, response) => answer(response)), new Set<Socket>()];
    endless.on('connection', (socket) => sockets.add(socket)).listen(0, '127.0.0.1');
    await once(endless, 'listening');
    const address = endless.address();
    const endpoint = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    const settings = { bucket: 'b', endpoint, accessKeyId: 'AKID', secretAccessKey: 's' };
    const opened = await openBucket(settings, { timeoutMs: 2_000 });
    await expect(opened.open('a.pdf')).rejects.toMatchObject({ code: 'STORAGE_DENIED' });
    opened.close();
    let sent = 0;
    for (const socket of sockets) sent += socket.bytesWritten;
    for (const socket of sockets) socket.destroy();
    endless.close();
    // The system's buffers accept this much and no more.
    expect(sent).toBeLessThan(32 * 1024 * 1024);
  });
});

/** Returns a 403 with a body that never ends. */
function flood(response: ServerResponse): void {
  response.writeHead(403);
  const more = () => {
    while (!response.destroyed && response.write('x'.repeat(65_536)));
  };
  response.on('drain', more);
  more();
}
