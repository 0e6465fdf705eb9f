import { createHash, timingSafeEqual } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import { createMiddleware } from 'hono/factory';

export interface InspectorEnv {
  Bindings: HttpBindings;
}

/** Only the page's own files load; nothing frames it, and no text becomes markup or script, whatever the page does. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HEADERS: readonly (readonly [string, string])[] = [
  ['Content-Security-Policy', POLICY],
  // The link is a secret: it must not reach other sites as a referrer, or a cache.
  ['Referrer-Policy', 'no-referrer'],
  ['Cache-Control', 'no-store'],
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
];

/**
 * Lets nobody in but who has the link. The token is a part of each path and not a cookie, which a browser would hand
 * to whatever else listens on this machine. Names that an attacker points here (DNS rebinding) and pages of other
 * origins are refused before it is looked at.
 */
export function linkHoldersOnly(token: string) {
  return createMiddleware<InspectorEnv>(async (c, next) => {
    for (const [name, value] of HEADERS) c.header(name, value);
    const { host, origin } = c.env.incoming.headers;
    const port = c.env.incoming.socket.localPort ?? 0;
    const isOwnName = host === `127.0.0.1:${port}` || host === `localhost:${port}`;
    const isOwnPage = origin === undefined ? isReading(c.req.method) : origin === `http://${host ?? ''}`;
    if (!isOwnName || !isOwnPage) return c.text('This page is shown only under its own address.\n', 403);
    if (!isSame(c.req.path.split('/')[1] ?? '', token))
      return c.text('This page needs the whole link that `esign listen --inspect` has printed.\n', 403);
    return next();
  });
}

function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** In constant time, whatever the length. */
function isSame(given: string, token: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(token));
}
