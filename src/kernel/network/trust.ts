import type { SecureContext } from 'node:tls';
import { codeOf } from '../errors.ts';
import { UNKNOWN_ISSUER } from './unreachable.ts';

/** The authorities that a TLS connection trusts. If empty, those of Node and NODE_EXTRA_CA_CERTS. */
export interface TlsTrust {
  secureContext?: SecureContext;
}

/** The system's certificates, loaded after the first refused connection. Resolves to undefined if the system has none. */
let system: Promise<SecureContext | undefined> | undefined;

/**
 * Makes a TLS connection. If it is refused because the issuer is unknown, tries again with the system's certificates, which later
 * connections use from the start. Nothing is sent on the refused connection.
 */
export async function connectTrusting<T>(connect: (trust: TlsTrust) => Promise<T>): Promise<T> {
  if (isSystemIgnored()) return connect({});
  const loaded = await system;
  try {
    return await connect(loaded === undefined ? {} : { secureContext: loaded });
  } catch (error) {
    if (loaded !== undefined || !UNKNOWN_ISSUER.has(codeOf(error) ?? '')) throw error;
    system ??= import('./system-certificates.ts').then(({ loadSystemContext }) => loadSystemContext());
    const secureContext = await system;
    if (secureContext === undefined) throw error;
    return connect({ secureContext });
  }
}

function isSystemIgnored(): boolean {
  return Boolean(process.env.ESIGN_NO_SYSTEM_CA);
}

/** Returns how to fix a certificate whose issuer is unknown. */
export function unknownIssuerHint(): string {
  if (isSystemIgnored())
    return "ESIGN_NO_SYSTEM_CA disables the system's certificates. Unset it, or set NODE_EXTRA_CA_CERTS=/path/to/ca.pem.";
  return "This can be caused by a company proxy that inspects TLS. Add its certificate authority to the system's certificates, or set NODE_EXTRA_CA_CERTS=/path/to/ca.pem.";
}
