import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { here, NODES, nodeOf } from '../../scripts/nodes.js';
import { certify } from '../support/certificates.ts';
import { Home, PACKAGE, reportedError } from '../support/cli.ts';
import { addProfile, type Places, startPlaces } from '../support/places.ts';
import { startProxy } from '../support/proxy.ts';
import { startTlsFront, type TlsFront } from '../support/tls.ts';

const BUNDLE = '/etc/ssl/certs/ca-certificates.crt';
const canBind = spawnSync('unshare', ['-Urm', 'mount', '--bind', '/dev/null', BUNDLE]).status === 0;

/* A company's machine: certificates of an authority that is only in the system's store. */
const home = new Home({ AWS_EC2_METADATA_DISABLED: 'true' });
let places: Places;
let fronts: { service: TlsFront; bucket: TlsFront };
let store: Record<string, string>;

beforeAll(async () => {
  places = await startPlaces(home);
  const { certified, service, bucket } = places;
  fronts = {
    service: await startTlsFront(certified, service.port),
    bucket: await startTlsFront(certified, bucket.port),
  };
  addProfile(home, 'tls', { service: fronts.service.origin, bucket: fronts.bucket.origin });
  const other = await certify('another authority');
  writeFileSync(
    home.path('store.pem'),
    `# of the company\n${other.cert}\n${readFileSync(home.path('ca.pem'), 'utf8')}`,
  );
  store = { SSL_CERT_FILE: home.path('store.pem') };
});
afterAll(async () => {
  for (const front of Object.values(fronts)) front.close();
  await home.close();
});

describe.skipIf(process.platform !== 'linux').each([
  ['service', 8],
  ['bucket', 9],
] as const)('the %s with a certificate that only the system trusts', (name, unreachable) => {
  const run = (env: Record<string, string>) =>
    home.run([...places[name].args, '--profile', 'tls', '--json'], { env });

  it('is reached', async () => {
    expect(await run(store)).toMatchObject({ code: 0, stderr: '' });
  });

  it('is reached through a proxy, and through one with such a certificate itself', async () => {
    const proxy = await startProxy();
    const front = await startTlsFront(places.certified, Number(proxy.address.split(':')[1]));
    for (const address of [`http://${proxy.address}`, front.origin])
      expect(await run({ ...store, HTTPS_PROXY: address })).toMatchObject({ code: 0, stderr: '' });
    expect(proxy.asked.length).toBeGreaterThan(1);
    front.close();
    proxy.close();
  });

  it('is refused with ESIGN_NO_SYSTEM_CA=1, which the error names', async () => {
    const error = reportedError(await run({ ...store, ESIGN_NO_SYSTEM_CA: '1' }));
    expect(error).toMatchObject({ exitCode: unreachable });
    expect(error.hint).toContain('ESIGN_NO_SYSTEM_CA');
    expect(error.hint).toContain('NODE_EXTRA_CA_CERTS=');
  });

  it('is refused if the system only has other authorities', async () => {
    const error = reportedError(await run({}));
    expect(error).toMatchObject({ exitCode: unreachable });
    expect(error.hint).toContain('NODE_EXTRA_CA_CERTS=');
  });

  it('is reached next to NODE_EXTRA_CA_CERTS, whose authorities stay trusted', async () => {
    const another = home.path('other.pem');
    writeFileSync(another, (await certify('another authority')).cert);
    const known = home.path('ca.pem');
    expect(await run({ ...store, NODE_EXTRA_CA_CERTS: another })).toMatchObject({ code: 0, stderr: '' });
    expect(await run({ SSL_CERT_FILE: another, NODE_EXTRA_CA_CERTS: known })).toMatchObject({ code: 0 });
  });
});

describe.skipIf(process.platform !== 'linux' || PACKAGE === undefined)('the store of the system', () => {
  const args = () => ['envelopes', 'get', places.service.args[2] ?? '', '--profile', 'tls', '--json'];

  it.skipIf(!canBind)('is the bundle of the distribution', async () => {
    const mounted = `mount --bind '${home.path('store.pem')}' ${BUNDLE} && exec "$@"`;
    const under = ['unshare', '-Urm', 'sh', '-c', mounted, 'sh'];
    expect(await home.run(args(), { under })).toMatchObject({ code: 0, stderr: '' });
  });

  it('is listed by Node itself from 22.15 on', { tags: ['full'] }, async () => {
    const node = await nodeOf(NODES[22], ...here);
    const line = `'${node}' '${join(PACKAGE ?? '', 'bin/run.js')}' ${args().join(' ')}`;
    expect(await home.shell(line, store)).toMatchObject({ code: 0, stderr: '' });
    expect((await home.shell(line)).code).toBe(8);
  });
});
