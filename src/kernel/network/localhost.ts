import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** Returns true for `localhost` and its subdomains, which always mean this machine (RFC 6761, 6.3). */
export function isLocalhostName(hostname: string): boolean {
  return /(^|\.)localhost\.?$/i.test(hostname);
}

/** The loopback addresses: 127.0.0.0/8, ::1, and the former as IPv6. */
const LOOPBACK_ADDRESS = /^(127(\.\d{1,3}){3}|\[?::1\]?|\[?::ffff:7f[\da-f]{2}:[\da-f]{1,4}\]?)$/i;

/** Returns true if the host of a URL is this machine. */
export function isLoopbackHost(hostname: string): boolean {
  return isLocalhostName(hostname) || LOOPBACK_ADDRESS.test(hostname);
}

const LOOPBACK = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** Resolves a host name. Localhost names resolve to loopback addresses without a lookup. */
export const lookupHost: LookupFunction = (hostname, options, callback) => {
  if (!isLocalhostName(hostname)) return lookup(hostname, options, callback);
  const { family } = options;
  const wanted = LOOPBACK.filter((one) => !family || `IPv${one.family}` === family || one.family === family);
  const [first] = wanted;
  process.nextTick(() =>
    options.all ? callback(null, wanted) : callback(null, first?.address ?? '', first?.family),
  );
};
