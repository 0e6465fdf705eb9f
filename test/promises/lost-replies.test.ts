import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { argv } from '../support/argv.ts';
import { Home, reportedError } from '../support/cli.ts';
import { addProfile, type Places, startPlaces } from '../support/places.ts';
import { startProxy } from '../support/proxy.ts';
import { startTlsFront, type TlsFront } from '../support/tls.ts';

/* Connections that break, over TLS and through a proxy, with the built program. The other cases are in never-twice.test.ts. */
const home = new Home({ AWS_EC2_METADATA_DISABLED: 'true' });
let places: Places;
let front: TlsFront;

beforeAll(async () => {
  places = await startPlaces(home);
  home.env.NODE_EXTRA_CA_CERTS = home.path('ca.pem');
});
afterEach(() => front.close());

/** Connections to a server, some of which break after this many bytes of the response. */
async function breaking(name: 'service' | 'bucket', breaksAfter: (connection: number) => number | undefined) {
  front = await startTlsFront(places.certified, places[name].port, { breaksAfter });
  addProfile(home, 'tls', { service: front.origin, bucket: front.origin });
}
const run = (args: readonly string[], env: Record<string, string> = {}) =>
  home.run(argv`${args} --profile tls --json`, { env });

describe.each(['service', 'bucket'] as const)('an interrupted response of the %s', (name) => {
  it.each([
    ['before its first byte', 0],
    ['in its headers', 40],
  ])('is requested again when it ends %s', async (_, bytes) => {
    await breaking(name, (connection) => (connection < 3 ? bytes : undefined));
    expect(await run(places[name].args)).toMatchObject({ code: 0 });
    expect(front.connections).toBe(3);
  });

  it('fails if it is interrupted every time', async () => {
    await breaking(name, () => 40);
    const error = reportedError(await run(places[name].args));
    expect(error).toMatchObject({ exitCode: name === 'service' ? 8 : 9 });
  });
});

describe('a write whose response is lost', () => {
  it('is found and not repeated, also through a tunnel', async () => {
    let isLost = false;
    const breaksOn = (request: string) => {
      const isFirst = !isLost && /^POST \S*\/envelopes /.test(request);
      isLost ||= isFirst;
      return isFirst;
    };
    front = await startTlsFront(places.certified, places.service.port, { breaksOn });
    addProfile(home, 'tls', { service: front.origin, bucket: front.origin });
    const proxy = await startProxy();
    const create = 'envelopes create --template tmpl_nda --metadata case=tunnel --signer'.split(' ');
    const done = await run([...create, 'Ada <ada@example.com>'], { HTTPS_PROXY: proxy.address });
    expect(done.code).toBe(0);
    expect(done.stderr).toContain('response was lost');
    const all = JSON.stringify(await home.json`envelopes list --all`);
    expect(all.match(/"case":"tunnel"/g)).toHaveLength(1);
  });
});
