import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { argv } from '../support/argv.ts';
import { type Finished, Home, reportedError } from '../support/cli.ts';
import { addProfile, type Places, startPlaces } from '../support/places.ts';
import { type ProxyOptions, startProxy, type TestProxy } from '../support/proxy.ts';
import { startTlsFront, type TlsFront } from '../support/tls.ts';

/* For users behind a proxy: the built program, for the service and for the bucket. */
const home = new Home({ AWS_EC2_METADATA_DISABLED: 'true' });
const PASSWORD = 'hunter2hunter2';
const BASIC = Buffer.from(`me:${PASSWORD}`).toString('base64');

let places: Places;
let fronts: { service: TlsFront; bucket: TlsFront };

beforeAll(async () => {
  places = await startPlaces(home);
  const { certified, service, bucket } = places;
  fronts = {
    service: await startTlsFront(certified, service.port),
    bucket: await startTlsFront(certified, bucket.port),
  };
  addProfile(home, 'tls', { service: fronts.service.origin, bucket: fronts.bucket.origin });
});
afterAll(async () => {
  fronts.service.close();
  fronts.bucket.close();
  await home.close();
});

let proxy: TestProxy;
async function behind(options: ProxyOptions = {}): Promise<string> {
  proxy = await startProxy(options);
  return proxy.address;
}
afterEach(() => proxy.close());

/** What no output may contain, even with --debug. */
function expectNoPassword({ stdout, stderr }: Finished): void {
  for (const secret of [PASSWORD, BASIC]) expect(stdout + stderr).not.toContain(secret);
}

describe.each(['service', 'bucket'] as const)('the %s through a proxy', (name) => {
  // Node reads the certificates when a process starts, so only these runs are processes.
  const run = (env: Record<string, string>, ...more: string[]) =>
    home.run([...places[name].args, '--json', ...more], {
      env: more.includes('tls') ? { ...env, NODE_EXTRA_CA_CERTS: home.path('ca.pem') } : env,
    });
  const unreachable = name === 'service' ? 8 : 9;
  const detail = { tags: name === 'service' ? [] : ['full'] };

  it('sends the full URL to the proxy over plain http', async () => {
    const address = await behind();
    const done = await run({ HTTP_PROXY: address });
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(proxy.asked.length).toBeGreaterThan(0);
    const prefix = `http://127.0.0.1:${places[name].port}/`;
    for (const one of proxy.asked) expect(one.replace(/^\w+ /, '').slice(0, prefix.length)).toBe(prefix);
  });

  it('opens a tunnel for https, so that the proxy sees nothing else', async () => {
    const address = await behind();
    const done = await run({ https_proxy: `http://${address}` }, '--profile', 'tls');
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(new Set(proxy.asked)).toEqual(new Set([`CONNECT 127.0.0.1:${fronts[name].port}`]));
  });

  it('connects to the proxy itself over https', detail, async () => {
    await behind();
    const front = await startTlsFront(places.certified, Number(proxy.address.split(':')[1]));
    const done = await run({ HTTPS_PROXY: front.origin }, '--profile', 'tls');
    front.close();
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(proxy.asked[0]).toBe(`CONNECT 127.0.0.1:${fronts[name].port}`);
  });

  it('ignores HTTP_PROXY for https, and HTTPS_PROXY for http', detail, async () => {
    const address = await behind();
    const runs = [
      await run({ HTTP_PROXY: address }, '--profile', 'tls'),
      await run({ HTTPS_PROXY: address }),
    ];
    expect([...runs.map((one) => one.code), proxy.asked]).toEqual([0, 0, []]);
  });

  it('bypasses it for one port or all with NO_PROXY', detail, async () => {
    const address = await behind();
    const exempt = (port: number) => ({ HTTP_PROXY: address, NO_PROXY: `x.example, 127.0.0.1:${port}` });
    expect((await run(exempt(places[name].port))).code).toBe(0);
    expect(proxy.asked).toEqual([]);
    expect((await run(exempt(9))).code).toBe(0);
    expect(proxy.asked).not.toEqual([]);
  });

  it.each(['sandbox', 'tls'])('sends a password to the proxy and shows it nowhere (%s)', async (profile) => {
    const address = `http://me:${PASSWORD}@${await behind()}`;
    const env = { HTTP_PROXY: address, HTTPS_PROXY: address };
    const done = await run(env, '--profile', profile, '--debug');
    expect(done.code).toBe(0);
    expect(new Set(proxy.users)).toEqual(new Set([`me:${PASSWORD}`]));
    expectNoPassword(done);
  });

  it.each(['sandbox', 'tls'])('names a refusing proxy without its password (%s)', detail, async (profile) => {
    const address = `http://me:${PASSWORD}@${await behind({ refuse: 407 })}`;
    const done = await run({ HTTP_PROXY: address, HTTPS_PROXY: address }, '--profile', profile, '--debug');
    expect(done.code).toBe(unreachable);
    expect(done.stderr).toMatch(/proxy/i);
    expect(done.stderr).toContain('407');
    expectNoPassword(done);
  });

  it.each(['sandbox', 'tls'])('aborts a hanging proxy in time (%s)', detail, async (profile) => {
    const address = await behind({ hang: true });
    const started = Date.now();
    const env = { HTTP_PROXY: address, HTTPS_PROXY: address };
    const done = await run(env, '--profile', profile, '--timeout', '500ms');
    expect(done.code).toBe(unreachable);
    // It is retried a few times, each with its own timeout.
    expect(Date.now() - started).toBeLessThan(20_000);
  });

  it('names a proxy where nothing is listening', detail, async () => {
    const address = await behind();
    proxy.close();
    for (const profile of ['sandbox', 'tls']) {
      const done = await run({ HTTP_PROXY: address, HTTPS_PROXY: address }, '--profile', profile);
      expect(done.code).toBe(unreachable);
      expect(done.stderr).toContain(`through the proxy http://${address} (HTTP`);
    }
  });

  it('reports an invalid proxy address as a usage error', detail, async () => {
    await behind();
    const done = await run({ HTTP_PROXY: 'socks5://127.0.0.1:1080' });
    expect(reportedError(done)).toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('HTTP_PROXY is not') as unknown,
    });
  });
});

describe('the doctor', () => {
  it.each([
    [{}, 'none'],
    [{ NO_PROXY: '127.0.0.1:9' }, 'is used for an address on this machine'],
    [{ NO_PROXY: '127.0.0.1' }, 'not for 127.0.0.1'],
  ])('reports for %j what a request does', async (env: Record<string, string>, said) => {
    const address = await behind();
    const all =
      said === 'none' ? { HTTPS_PROXY: address } : { HTTP_PROXY: `http://me:${PASSWORD}@${address}`, ...env };
    const done = await home.run(argv`doctor --json`, { env: all });
    const page = parseJson(done.stdout);
    const checks = isRecord(page) && Array.isArray(page.checks) ? page.checks.filter(isRecord) : [];
    expect(checks.find((check) => check.name === 'proxy')?.message).toContain(said);
    expect(proxy.asked.length > 0).toBe(said.startsWith('is used'));
    expectNoPassword(done);
  });
});
