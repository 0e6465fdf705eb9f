import { readFileSync, writeFileSync } from 'node:fs';
import { isRecord, parseJson } from '../../src/kernel/json.ts';
import { type Certified, certify } from './certificates.ts';
import type { Home } from './cli.ts';

/** A server that esign connects to: what requests it, and its plain http port. */
interface Place {
  args: readonly string[];
  port: number;
}

export interface Places {
  service: Place;
  bucket: Place;
  /** A key and certificate of an authority that esign knows only through NODE_EXTRA_CA_CERTS. */
  certified: Certified;
  /** The storage key of a signed document. */
  key: string;
}

/** A sandbox in the home, with one completed envelope, and an authority whose certificate is in ca.pem. */
export async function startPlaces(home: Home): Promise<Places> {
  const { ready, baseUrl } = await home.sandbox();
  const draft = 'envelopes create --template tmpl_nda --send --signer'.split(' ');
  const { id } = await home.object`${draft} 'Ada <ada@example.com>'`;
  const { signedDocumentStorageKey: key } = await home.object`sandbox sign ${String(id)}`;
  const authority = await certify('esign test authority');
  writeFileSync(home.path('ca.pem'), authority.cert);
  const portOf = (url: unknown) => Number(new URL(String(url)).port);
  return {
    service: { args: ['envelopes', 'get', String(id)], port: portOf(baseUrl) },
    bucket: { args: ['documents', 'download', String(key), '-o', '-'], port: portOf(ready.endpoint) },
    certified: await certify('localhost', authority),
    key: String(key),
  };
}

/** A second profile for the sandbox of the home, with other addresses. */
export function addProfile(home: Home, name: string, addresses: { service: string; bucket: string }): void {
  const path = home.path('config', 'profiles.json');
  const stored = parseJson(readFileSync(path, 'utf8'));
  const profiles = isRecord(stored) ? stored.profiles : undefined;
  if (!isRecord(profiles) || !isRecord(profiles.sandbox)) throw new Error(`no profile sandbox in ${path}`);
  const { sandbox } = profiles;
  const storage = Object.assign({}, sandbox.storage, { endpoint: addresses.bucket });
  profiles[name] = { ...sandbox, baseUrl: `${addresses.service}/api/v1`, insecureHttp: true, storage };
  writeFileSync(path, JSON.stringify(stored), { mode: 0o600 });
}
