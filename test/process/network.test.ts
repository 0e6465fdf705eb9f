import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { certify } from '../support/certificates.ts';
import { type Finished, Home, jsonLines, PACKAGE, reportedError } from '../support/cli.ts';
import { addProfile, type Places, startPlaces } from '../support/places.ts';
import { type ProxyOptions, startProxy, type TestProxy } from '../support/proxy.ts';
import { startServer } from '../support/server.ts';
import { startTlsFront, type TlsFront } from '../support/tls.ts';

/* A company's network: a proxy, and certificates from its own authority, for the service and for the bucket. */
const home = new Home({ AWS_EC2_METADATA_DISABLED: 'true' });
const PASSWORD = 'hunter2hunter2';
const BASIC = Buffer.from(`me:${PASSWORD}`).toString('base64');
const full = { tags: ['full'] };

let places: Places;
let fronts: { service: TlsFront; bucket: TlsFront };
/** The system's certificates, with the company's. */
let store: Record<string, string>;

beforeAll(async () => {
  places = await startPlaces(home);
  const { certified, service, bucket } = places;
  fronts = {
    service: await startTlsFront(certified, service.port),
    bucket: await startTlsFront(certified, bucket.port),
  };
  // Only a proxy knows these names.
  addProfile(home, 'named', {
    service: `http://service.example:${service.port}`,
    bucket: `http://bucket.example:${bucket.port}`,
  });
  addProfile(home, 'tls', { service: fronts.service.origin, bucket: fronts.bucket.origin });
  const other = await certify('another authority');
  writeFileSync(home.path('other.pem'), other.cert);
  const own = readFileSync(home.path('ca.pem'), 'utf8');
  writeFileSync(home.path('store.pem'), `# of the company\n${other.cert}\n${own}`);
  store = { SSL_CERT_FILE: home.path('store.pem') };
});

let proxy: TestProxy | undefined;
async function behind(options: ProxyOptions = {}): Promise<string> {
  proxy = await startProxy(options);
  return proxy.address;
}
afterEach(() => {
  proxy = undefined;
});

/** What no output may contain, even with --debug. */
function expectNoPassword({ stdout, stderr }: Finished): void {
  for (const secret of [PASSWORD, BASIC]) expect(stdout + stderr).not.toContain(secret);
}

const sides = [
  ['service', 8],
  ['bucket', 9],
] as const;

describe.each(sides)('the %s through a proxy', (name, unreachable) => {
  // Node reads the certificates when a process starts, so only these runs are processes.
  const run = (env: Record<string, string>, ...more: string[]) =>
    home.run([...places[name].args, '--json', ...more], {
      env: more.includes('tls') ? { ...env, NODE_EXTRA_CA_CERTS: home.path('ca.pem') } : env,
    });

  it('gets the full URL over plain http', async () => {
    const address = await behind({ to: `127.0.0.1:${places[name].port}` });
    expect(await run({ HTTP_PROXY: address }, '--profile', 'named')).toMatchObject({ code: 0, stderr: '' });
    const prefix = `http://${name}.example:${places[name].port}/`;
    expect(proxy?.asked.length).toBeGreaterThan(0);
    for (const one of proxy?.asked ?? []) expect(one.replace(/^\w+ /, '')).toMatch(prefix);
  });

  it('gets a tunnel for https, and the password of the proxy is shown nowhere', async () => {
    const address = `http://me:${PASSWORD}@${await behind()}`;
    const done = await run({ HTTPS_PROXY: address }, '--profile', 'tls', '--debug');
    expect(done.code).toBe(0);
    expect(new Set(proxy?.asked)).toEqual(new Set([`CONNECT 127.0.0.1:${fronts[name].port}`]));
    expect(new Set(proxy?.users)).toEqual(new Set([`me:${PASSWORD}`]));
    expectNoPassword(done);
  });

  it('connects directly with NO_PROXY', async () => {
    const address = await behind();
    const exempt = (port: number) => ({ HTTPS_PROXY: address, NO_PROXY: `x.example, 127.0.0.1:${port}` });
    expect((await run(exempt(fronts[name].port), '--profile', 'tls')).code).toBe(0);
    expect(proxy?.asked).toEqual([]);
  });

  it('gets nothing over plain http to a loopback address', async () => {
    const address = await behind();
    expect((await run({ HTTP_PROXY: address, http_proxy: address })).code).toBe(0);
    expect(proxy?.asked).toEqual([]);
  });

  it('names a proxy that refuses or does not listen, without its password', full, async () => {
    for (const profile of ['named', 'tls']) {
      const address = `http://me:${PASSWORD}@${await behind({ refuse: 407 })}`;
      const env = { HTTP_PROXY: address, HTTPS_PROXY: address };
      const refused = await run(env, '--profile', profile, '--debug');
      expect([refused.code, refused.stderr.includes('407')]).toEqual([unreachable, true]);
      expectNoPassword(refused);
      proxy?.close();
      const gone = await run(env, '--profile', profile);
      expect([gone.code, /through the proxy http/.test(gone.stderr)]).toEqual([unreachable, true]);
    }
  });

  it('gives up on a proxy that hangs', full, async () => {
    const address = await behind({ hang: true });
    const env = { HTTP_PROXY: address, HTTPS_PROXY: address };
    for (const profile of ['named', 'tls'])
      expect((await run(env, '--profile', profile, '--timeout', '500ms')).code).toBe(unreachable);
  });
});

it.each([
  [['HTTP_PROXY'], {}, 'named', '(HTTP_PROXY)'],
  [['HTTP_PROXY'], {}, 'sandbox', 'on this machine'],
  [['HTTPS_PROXY'], {}, 'sandbox', 'none'],
  [['HTTPS_PROXY'], { NO_PROXY: '127.0.0.1:9' }, 'tls', 'is used for an address on this machine'],
  [['HTTPS_PROXY'], { NO_PROXY: '127.0.0.1' }, 'tls', 'not for 127.0.0.1'],
] as const)(
  'the doctor reports for %j and %j what a request of the profile %s does',
  async (names, env, profile, said) => {
    const address = `http://me:${PASSWORD}@${await behind({ to: `127.0.0.1:${places.service.port}` })}`;
    const proxies = Object.fromEntries(names.map((name) => [name, address]));
    const done = await home.run(['doctor', '--json', '-p', profile], { env: { ...proxies, ...env } });
    const page = parseJson(done.stdout);
    const checks = isRecord(page) && Array.isArray(page.checks) ? page.checks.filter(isRecord) : [];
    expect(checks.find((check) => check.name === 'proxy')?.message).toContain(said);
    expect((proxy?.asked.length ?? 0) > 0).toBe(/^is used|^\(/.test(said));
    expectNoPassword(done);
  },
);

it('an invalid proxy address is a usage error', async () => {
  const done = await home.run([...places.service.args, '--json', '--profile', 'named'], {
    env: { HTTP_PROXY: 'socks5://127.0.0.1:1080' },
  });
  expect(reportedError(done)).toMatchObject({ exitCode: 2 });
});

describe.each(sides)('the %s with a certificate of a private authority', (name, unreachable) => {
  const run = (env: Record<string, string>) =>
    home.run([...places[name].args, '--profile', 'tls', '--json'], { env });

  it('is refused, and the error names NODE_EXTRA_CA_CERTS', async () => {
    const error = reportedError(await run({}));
    expect(error).toMatchObject({ exitCode: unreachable });
    expect(error.hint).toContain('NODE_EXTRA_CA_CERTS=');
  });

  it('is reached once NODE_EXTRA_CA_CERTS names it', async () => {
    const known = { NODE_EXTRA_CA_CERTS: home.path('ca.pem') };
    expect(await run(known)).toMatchObject({ code: 0, stderr: '' });
    // The authorities of both sources are trusted.
    const other = { ...known, SSL_CERT_FILE: home.path('other.pem') };
    expect((await run(other)).code).toBe(0);
  });

  it.skipIf(process.platform !== 'linux')(
    'is trusted if the system trusts the authority, except with ESIGN_NO_SYSTEM_CA',
    async () => {
      expect(await run(store)).toMatchObject({ code: 0, stderr: '' });
      const error = reportedError(await run({ ...store, ESIGN_NO_SYSTEM_CA: '1' }));
      expect(error).toMatchObject({ exitCode: unreachable });
      expect(error.hint).toContain('ESIGN_NO_SYSTEM_CA');
    },
  );

  it('is refused if it is self-signed, even with a trusted authority', full, async () => {
    const front = await startTlsFront(await certify('localhost'), places[name].port);
    addProfile(home, 'self-signed', { service: front.origin, bucket: front.origin });
    const words = [...places[name].args, '--profile', 'self-signed', '--json'];
    const error = reportedError(await home.run(words, { env: { NODE_EXTRA_CA_CERTS: home.path('ca.pem') } }));
    expect(error).toMatchObject({ exitCode: unreachable });
  });

  it('is reached through a proxy that has such a certificate itself', full, async () => {
    const address = await behind();
    const front = await startTlsFront(places.certified, Number(address.split(':')[1]));
    expect(await run({ ...store, HTTPS_PROXY: front.origin })).toMatchObject({ code: 0, stderr: '' });
  });
});

const BUNDLE = '/etc/ssl/certs/ca-certificates.crt';
const canBind = spawnSync('unshare', ['-Urm', 'mount', '--bind', '/dev/null', BUNDLE]).status === 0;

it.skipIf(!canBind || PACKAGE === undefined)('the system trusts the bundle of the distribution', async () => {
  const mounted = `mount --bind '${home.path('store.pem')}' ${BUNDLE} && exec "$@"`;
  const under = ['unshare', '-Urm', 'sh', '-c', mounted, 'sh'];
  const args = [...places.service.args, '--profile', 'tls', '--json'];
  expect(await home.run(args, { under })).toMatchObject({ code: 0, stderr: '' });
});

/*
 * Node in FIPS mode, where MD5 fails: a stub, or with ESIGN_TEST_OPENSSL_CONF (and OPENSSL_MODULES) the FIPS provider that
 * this OpenSSL configuration activates. An executable ignores NODE_OPTIONS, which load the stub.
 */
const { ESIGN_TEST_OPENSSL_CONF: conf = '', OPENSSL_MODULES = '' } = process.env;
describe.skipIf(PACKAGE === undefined && conf === '')('in FIPS mode', () => {
  const stub = join(import.meta.dirname, '../support/fips.cjs');
  const fips = new Home();
  const log = fips.pathLater('md5.log');
  beforeAll(() => {
    Object.assign(
      fips.env,
      conf ? { OPENSSL_CONF: conf, OPENSSL_MODULES } : { NODE_OPTIONS: `--require "${stub}"`, FIPS_LOG: log },
    );
  });

  it('an object with only an MD5 is verified by its size, with one notice', async () => {
    const pdf = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(200_000, 'a page ')]);
    const etag = `"${createHash('md5').update(pdf).digest('hex')}"`;
    const bucket = await startServer((_, response) => {
      response.writeHead(200, { etag, 'content-length': pdf.length }).end(pdf);
    });
    const env = {
      AWS_ACCESS_KEY_ID: 'AKID',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_REGION: 'us-east-1',
      ESIGN_BASE_URL: 'http://127.0.0.1:9/v1',
      ESIGN_API_KEY: 'sk_0123456789',
      ESIGN_BUCKET: 'b',
      ESIGN_BUCKET_ENDPOINT: bucket.origin,
    };
    const done = await fips.run(argv`documents download a.pdf b.pdf --dir downloads --json`, { env });
    const sha256 = createHash('sha256').update(pdf).digest('hex');
    expect([done.code, done.stderr.match(/size/g)?.length]).toEqual([0, 1]);
    expect(jsonLines(done.stdout)).toMatchObject([
      { status: 'downloaded', proof: 'size', sha256 },
      { status: 'downloaded', proof: 'size', sha256 },
    ]);
  });

  it('no command uses MD5', full, async () => {
    await fips.sandbox();
    const signer = 'Ada <ada@example.com>';
    const { id } = await fips.object`envelopes create --template tmpl_nda --signer ${signer} --send`;
    await fips.object`sandbox sign ${String(id)}`;
    writeFileSync(fips.path('rows.csv'), 'name,email\nGrace,grace@example.com\nMary,mary@example.com\n');
    for (const words of [
      `envelopes download ${String(id)} --dir signed --what signed,certificate,document`,
      'documents verify signed --require-seal',
      'bulk create rows.csv --template tmpl_nda --send --yes',
      'envelopes list',
      'report',
      'find ada',
      'events list',
      'templates list',
      'doctor',
    ]) {
      const { code, stderr } = await fips.run(words.split(' '));
      expect([words, code, stderr]).toEqual([words, 0, expect.not.stringContaining('nsupported')]);
    }
    expect(existsSync(log) ? readFileSync(log, 'utf8') : '').toBe('');
  });
});

it('ignores 100 Continue before a response', async () => {
  const server = await startServer((_, response) => {
    response.writeContinue();
    response.writeContinue();
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":[]}');
  });
  const env = { ESIGN_BASE_URL: `${server.origin}/api`, ESIGN_API_KEY: 'esk_0123456789' };
  for (const words of ['api GET /esign/envelopes', 'envelopes list --json'])
    expect(await home.start(words.split(' '), { env }).ended).toMatchObject({ code: 0 });
  expect(server.seen).toHaveLength(2);
});
