/** Failures that occur before any byte of a request is sent, so that the host certainly didn't receive it. */
export const NEVER_SENT: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ENOTFOUND: 'the host was not found (DNS)',
    EAI_AGAIN: 'the name server did not respond (DNS)',
    UND_ERR_CONNECT_TIMEOUT: 'it did not accept the connection in time',
  }),
);

/** Failures that also end an open connection, such as by the message of a firewall (ICMP). Nothing was sent only if `isOfConnecting`. */
export const REFUSED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ECONNREFUSED: 'connection refused',
    EHOSTUNREACH: 'no route to the host',
    ENETUNREACH: 'the network is unreachable',
  }),
);

/** Returns true if an error of the system is that of connecting. For a host with several addresses, it contains one for each. */
export function isOfConnecting(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isOfConnecting);
  return error instanceof Error && 'syscall' in error && error.syscall === 'connect';
}

const UNKNOWN_AUTHORITY = 'its TLS certificate is from an untrusted authority';

/** Errors of certificates whose issuer is not trusted. */
export const UNKNOWN_ISSUER: ReadonlyMap<string, string> = new Map(
  Object.entries({
    DEPTH_ZERO_SELF_SIGNED_CERT: 'its TLS certificate is self-signed',
    SELF_SIGNED_CERT_IN_CHAIN: 'its TLS certificate chain is self-signed',
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
    UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  }),
);

/** Errors of certificates. Retrying doesn't help. */
export const CERTIFICATE: ReadonlyMap<string, string> = new Map([
  ...UNKNOWN_ISSUER,
  ...Object.entries({
    CERT_HAS_EXPIRED: 'its TLS certificate has expired',
    CERT_NOT_YET_VALID: "its TLS certificate is not valid yet; check this machine's clock",
    ERR_TLS_CERT_ALTNAME_INVALID: 'its TLS certificate is for a different host',
  }),
]);

/** Returns why a connection failed, by its error code. An unknown code is returned unchanged. */
export function connectionReason(code: string): string {
  return NEVER_SENT.get(code) ?? REFUSED.get(code) ?? CERTIFICATE.get(code) ?? code;
}
