import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** True for `localhost` and the names below it, which mean this machine whatever a name server says (RFC 6761, 6.3). */
export function isLocalhostName(hostname: string): boolean {
  return /(^|\.)localhost\.?$/i.test(hostname);
}

const LOOPBACK = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** Looks a name up, except that localhost names are this machine without asking anyone. */
export const lookupHost: LookupFunction = (hostname, options, callback) => {
  if (!isLocalhostName(hostname)) return lookup(hostname, options, callback);
  const { family } = options;
  const wanted = LOOPBACK.filter((one) => !family || `IPv${one.family}` === family || one.family === family);
  const [first] = wanted;
  process.nextTick(() =>
    options.all ? callback(null, wanted) : callback(null, first?.address ?? '', first?.family),
  );
};
