import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { certify } from '../support/certificates.ts';
import { Home, reportedError } from '../support/cli.ts';
import { addProfile, type Places, startPlaces } from '../support/places.ts';
import { startTlsFront, type TlsFront } from '../support/tls.ts';

/* A service and a bucket with certificates of the company's own authority. */
const home = new Home({ AWS_EC2_METADATA_DISABLED: 'true' });
let places: Places;
let front: TlsFront | undefined;

beforeAll(async () => {
  places = await startPlaces(home);
});
afterEach(() => front?.close());
afterAll(() => home.close());

describe.each([
  ['service', 8],
  ['bucket', 9],
] as const)('the %s with a certificate of a private authority', (name, unreachable) => {
  const run = async (certified: Places['certified'], env: Record<string, string>) => {
    front = await startTlsFront(certified, places[name].port);
    addProfile(home, 'tls', { service: front.origin, bucket: front.origin });
    return home.run([...places[name].args, '--profile', 'tls', '--json'], { env });
  };
  const known = () => ({ NODE_EXTRA_CA_CERTS: home.path('ca.pem') });

  it('is reached once NODE_EXTRA_CA_CERTS names it', async () => {
    expect(await run(places.certified, known())).toMatchObject({ code: 0, stderr: '' });
  });

  it('is refused immediately without it, and the variable is named', async () => {
    const done = await run(places.certified, {});
    const error = reportedError(done);
    expect(error).toMatchObject({ exitCode: unreachable });
    expect(error.message).toContain('authority');
    expect(error.hint).toContain('NODE_EXTRA_CA_CERTS=');
    if (name === 'service') expect(front?.connections).toBe(0);
  });

  it('is refused if it is self-signed, even with many trusted authorities', async () => {
    const error = reportedError(await run(await certify('localhost'), known()));
    expect(error).toMatchObject({ exitCode: unreachable });
    expect(error.hint).toContain('NODE_EXTRA_CA_CERTS=');
  });
});
