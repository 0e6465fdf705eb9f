import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { argv } from '../support/argv.ts';
import { Home, jsonLines } from '../support/cli.ts';
import { startServer, type TestServer } from '../support/server.ts';

/*
 * Node in FIPS mode, where MD5 fails: a stub, or with ESIGN_TEST_OPENSSL_CONF (and OPENSSL_MODULES) the FIPS provider that
 * this OpenSSL configuration activates.
 */
const { ESIGN_TEST_OPENSSL_CONF: conf = '', OPENSSL_MODULES = '' } = process.env;
const log = (home: Home) => home.path('md5.log');
const home = new Home();
const stub = join(import.meta.dirname, '../support/fips.cjs');
Object.assign(
  home.env,
  conf
    ? { OPENSSL_CONF: conf, OPENSSL_MODULES }
    : { NODE_OPTIONS: `--require "${stub}"`, FIPS_LOG: log(home) },
);
afterAll(() => home.close());

const pdf = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(2_000_000, 'a page ')]);
const sha256 = createHash('sha256').update(pdf).digest('hex');

describe('in FIPS mode, an object with only an MD5', () => {
  const etag = `"${createHash('md5').update(pdf).digest('hex')}"`;
  let bucket: TestServer;
  let env: Record<string, string>;

  beforeAll(async () => {
    bucket = await startServer((request, response) => {
      if (request.headers['if-none-match'] === etag) return void response.writeHead(304, { etag }).end();
      // It has the right length, and Node can't compute anything here that reveals the difference.
      const body = request.path.includes('other') ? Buffer.from(pdf).fill('b', 1_000) : pdf;
      const length = request.path.includes('short') ? body.length - 1 : body.length;
      response.writeHead(200, { etag, 'content-length': body.length }).end(body.subarray(0, length));
    });
    env = {
      AWS_ACCESS_KEY_ID: 'AKID',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_REGION: 'us-east-1',
      ESIGN_BASE_URL: 'http://127.0.0.1:9/v1',
      ESIGN_API_KEY: 'sk_0123456789',
      ESIGN_BUCKET: 'b',
      ESIGN_BUCKET_ENDPOINT: bucket.origin,
    };
  });
  afterAll(() => bucket.close());
  const download = (words: string) => home.run(['documents', 'download', ...words.split(' ')], { env });

  it('is verified by its size, which JSON and one notice report, and is unchanged the second time', async () => {
    const { code, stdout, stderr } = await download('a.pdf b.pdf other.pdf --dir downloads --json');
    expect(code).toBe(0);
    expect(jsonLines(stdout)).toMatchObject([
      { status: 'downloaded', proof: 'size', sha256 },
      { status: 'downloaded', proof: 'size', sha256 },
      { status: 'downloaded', proof: 'size' },
    ]);
    expect(stderr.match(/size/g)).toHaveLength(1);
    expect((await home.run(argv`documents verify downloads --json`)).code).toBe(0);
    expect(jsonLines((await download('a.pdf --dir downloads --json')).stdout)).toMatchObject([
      { status: 'unchanged', sha256 },
    ]);
  });

  it('is compared with a file that has no record', async () => {
    writeFileSync(home.path('c.pdf'), pdf);
    expect(jsonLines((await download('c.pdf -o c.pdf --json')).stdout)).toMatchObject([
      { status: 'unchanged', sha256 },
    ]);
    writeFileSync(home.path('d.pdf'), Buffer.from(pdf).fill('d', 1_000));
    expect((await download('d.pdf -o d.pdf')).code).toBe(9);
  });

  it('is written to stdout with the same notice', async () => {
    const { code, stdout, stderr } = await download('a.pdf -o -');
    expect([code, stdout.length]).toEqual([0, pdf.length]);
    expect(stderr).toMatch(/verified by size/i);
  });
});

it('runs every command in FIPS mode without MD5', { tags: ['full'] }, async () => {
  await home.sandbox();
  const signer = 'Ada <ada@example.com>';
  const { id } = await home.object`envelopes create --template tmpl_nda --signer ${signer} --send`;
  await home.object`sandbox sign ${String(id)}`;
  writeFileSync(home.path('rows.csv'), 'name,email\nGrace,grace@example.com\nMary,mary@example.com\n');
  for (const words of [
    `envelopes download ${String(id)} --dir signed --what signed,certificate,document`,
    `envelopes download ${String(id)} --dir signed`,
    'documents verify signed --require-seal',
    'documents pins',
    `envelopes evidence ${String(id)} --dir evidence`,
    'bulk create rows.csv --template tmpl_nda --send --yes',
    'bulk export --last',
    'envelopes list',
    'find ada',
    'find ada --cached',
    'events secret',
    'events list',
    'templates list',
    'sandbox mails',
    'sandbox advance 1d',
    'doctor',
  ]) {
    const { code, stderr } = await home.run(words.split(' '));
    // An ephemeral sandbox pins no seal, which evidence reports.
    const expected = words.includes('evidence') ? 9 : 0;
    expect([words, code, stderr]).toEqual([words, expected, expect.not.stringContaining('nsupported')]);
  }
  expect(existsSync(log(home)) ? readFileSync(log(home), 'utf8') : '').toBe('');
});
