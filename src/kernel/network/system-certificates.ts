import * as tls from 'node:tls';
import * as z from 'zod/mini';
import { readRegular } from '../files/regular-file.ts';

/** The files in which Debian and Arch, Fedora, openSUSE, RHEL, and Alpine store their certificate authorities. */
const BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

const certificates = z.array(z.string());

/** Returns a context with Node's default authorities and the system's, or undefined if the system's can't be read. */
export async function loadSystemContext(): Promise<tls.SecureContext | undefined> {
  const system = listed('system') ?? [];
  if (system.length === 0 && process.platform === 'linux') system.push(...(await bundle()));
  if (system.length === 0) return undefined;
  const own = listed('default') ?? [
    ...tls.rootCertificates,
    ...(await read(process.env.NODE_EXTRA_CA_CERTS)),
  ];
  return tls.createSecureContext({ ca: [...own, ...system] });
}

/** Returns the certificates of a store. Node lists them since 22.15. */
function listed(store: 'default' | 'system'): string[] | undefined {
  const list: unknown = Reflect.get(tls, 'getCACertificates');
  if (typeof list !== 'function') return undefined;
  return certificates.safeParse(Reflect.apply(list, undefined, [store])).data;
}

/** Reads the first bundle that exists. SSL_CERT_FILE names another one, as in OpenSSL, curl, and Node since 22.15. */
async function bundle(): Promise<string[]> {
  const named = process.env.SSL_CERT_FILE;
  for (const path of named ? [named] : BUNDLES) {
    const found = await read(path);
    if (found.length > 0) return found;
  }
  return [];
}

/** Reads the certificates of a file. An unreadable file is ignored: Node itself warns about NODE_EXTRA_CA_CERTS. */
async function read(path: string | undefined): Promise<string[]> {
  if (!path) return [];
  const text = await readRegular(path).catch(() => undefined);
  return text?.includes('-----BEGIN') ? [text] : [];
}
