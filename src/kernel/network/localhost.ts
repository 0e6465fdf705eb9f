import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** Returns true for `localhost` and its subdomains, which always mean this machine (RFC 6761, 6.3). */
export function isLocalhostName(hostname: string): boolean {
  return /(^|\.)localhost\.?$/i.test(hostname);
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
