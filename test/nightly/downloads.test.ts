import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home } from '../support/cli.ts';
import { seeded } from '../support/seeded.ts';
import { portOf } from '../support/server.ts';

const SEED = Number(process.env.FAULT_SEED ?? Date.now() % 2 ** 32);
const SIZE = 12_000_000;
const random = seeded(SEED);
const pdf = Buffer.concat([
  Buffer.from('%PDF-1.7\n'),
  Buffer.from(Array.from({ length: 1_000 }, () => Math.floor(random() * 256))),
]);
const body = Buffer.concat([pdf, Buffer.alloc(SIZE - pdf.length, 'esign')]);
const sha256 = createHash('sha256').update(body).digest('hex');
const etag = `"${createHash('md5').update(body).digest('hex')}"`;

type Fault = 'none' | 'drop' | 'short' | 'swap' | 'login' | 'slow' | 'stall' | 'error';
const MIXED: readonly Fault[] = ['drop', 'short', 'login', 'stall', 'error', 'drop', 'none'];
let fault: Fault = 'none';
/** Another fault at each request, by the seed. */
let mixed = false;
let served = 0;
let server: Server;
let endpoint: string;
const home = new Home();

beforeAll(async () => {
  process.stdout.write(`download faults: FAULT_SEED=${SEED}\n`);
  server = createServer(answer);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  endpoint = `http://127.0.0.1:${portOf(server)}`;
  const secret = { ESIGN_API_KEY: '', ESIGN_BASE_URL: '' };
  await home.run(
    [
      'profiles',
      'add',
      'faulty',
      '--base-url',
      'http://127.0.0.1:9/v1',
      '--api-key-file',
      '-',
      '--no-verify',
      '--bucket',
      'b',
      '--endpoint',
      endpoint,
    ],
    { input: 'sk_0123456789\n', env: secret },
  );
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await home.close();
});

function answer(request: IncomingMessage, response: ServerResponse): void {
  served++;
  if (mixed) fault = MIXED[Math.floor(random() * MIXED.length)] ?? 'none';
  if (fault === 'error') return void response.writeHead(503).end();
  if (fault === 'login')
    return void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>');
  const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
  const isOther = request.headers['if-match'] !== undefined && request.headers['if-match'] !== etag;
  if (isOther) return void response.writeHead(412).end();
  const part = (fault === 'swap' ? otherBody() : body).subarray(from);
  const range = from > 0 ? { 'content-range': `bytes ${from}-${SIZE - 1}/${SIZE}` } : {};
  const length = part.length + (fault === 'short' ? 10 : 0);
  response.writeHead(from > 0 ? 206 : 200, { etag, 'content-length': length, ...range });
  if (request.method === 'HEAD') return void response.end();
  void send(part, response, fault);
}

/** Other bytes each time, under the same ETag. */
function otherBody(): Buffer {
  const other = Buffer.from(body);
  other.writeUInt32BE(Math.floor(random() * 2 ** 32), SIZE - 100);
  return other;
}

async function send(part: Buffer, response: ServerResponse, fault: Fault): Promise<void> {
  const dropAt = fault === 'drop' || fault === 'stall' ? Math.floor(random() * part.length) : part.length;
  for (let at = 0; at < part.length; at += 200_000) {
    if (response.destroyed) return;
    if (at >= dropAt) return fault === 'stall' ? undefined : void response.destroy();
    response.write(part.subarray(at, at + 200_000));
    await pause(fault === 'slow' ? 8 : 0);
  }
  if (fault === 'short') response.destroy();
  else response.end();
}

const env = { AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'us-east-1' };
const words = (dir: string) => [
  'documents',
  'download',
  'k/signed.pdf',
  '--dir',
  dir,
  '--wait',
  '0s',
  '--json',
];
const finalOf = (dir: string) => readFile(home.path(dir, 'signed.pdf')).catch(() => undefined);
const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('a download', () => {
  it('resumes whenever its connection drops', async () => {
    fault = 'drop';
    served = 0;
    const { code, stderr } = await home.run(words('drops'), { env });
    expect(code, stderr).toBe(0);
    expect(hash((await finalOf('drops')) ?? Buffer.alloc(0))).toBe(sha256);
    process.stdout.write(`download faults: ${served} requests for one file\n`);
    expect(await readdir(home.path('drops'))).toEqual(['SHA256SUMS', 'signed.pdf']);
  });

  it.each<Fault>(['short', 'swap', 'login'])(
    'never saves other content under its name (%s)',
    async (kind) => {
      fault = kind;
      const { code } = await home.run(words(kind), { env });
      expect(code).toBe(9);
      expect(await finalOf(kind)).toBeUndefined();
    },
  );

  it('is correct in the end, or missing, from a bucket with another fault at each request', {
    timeout: 300_000,
  }, async () => {
    mixed = true;
    let whole = 0;
    for (let run = 0; run < 12; run++) {
      const { code } = await home.run([...words(`mixed${run % 4}`), '--timeout', '1s'], { env });
      const final = await finalOf(`mixed${run % 4}`);
      if (final !== undefined) expect(hash(final)).toBe(sha256);
      if (code === 0) expect(final).toBeDefined();
      whole += Number(code === 0);
    }
    mixed = false;
    process.stdout.write(`download faults: ${whole} of 12 runs with mixed faults came to their end\n`);
    expect(whole).toBeGreaterThan(0);
  });

  it('results in the same file after it was killed at 20 random moments', { timeout: 300_000 }, async () => {
    fault = 'slow';
    served = 0;
    for (let kill = 0; kill < 20; kill++) {
      const running = home.start(words('kills'), { env });
      await pause(150 + random() * 500);
      running.child.kill('SIGKILL');
      await running.ended;
      const final = await finalOf('kills');
      if (final !== undefined) expect(hash(final)).toBe(sha256);
    }
    fault = 'none';
    const { code, stderr } = await home.run(words('kills'), { env });
    expect(code, stderr).toBe(0);
    expect(hash((await finalOf('kills')) ?? Buffer.alloc(0))).toBe(sha256);
  });
});
