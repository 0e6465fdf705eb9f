import { createHash, timingSafeEqual } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import { createMiddleware } from 'hono/factory';

export interface InspectorEnv {
  Bindings: HttpBindings;
}

/** Only the page's own files load, nothing can frame it, and no text becomes markup or script. */
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
  // The link is secret: keep it from other sites (referrer) and caches.
  ['Referrer-Policy', 'no-referrer'],
  ['Cache-Control', 'no-store'],
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
];

/**
 * Allows only requests with the link's token. It is part of each path instead of a cookie, which a browser would send to
 * other servers on this machine. Host names that an attacker points here (DNS rebinding) and pages of other origins are
 * rejected first.
 */
export function linkHoldersOnly(token: string) {
  return createMiddleware<InspectorEnv>(async (c, next) => {
    for (const [name, value] of HEADERS) c.header(name, value);
    const { host, origin } = c.env.incoming.headers;
    const port = c.env.incoming.socket.localPort ?? 0;
    const isOwnName = host === `127.0.0.1:${port}` || host === `localhost:${port}`;
    const isOwnPage = origin === undefined ? isReading(c.req.method) : origin === `http://${host ?? ''}`;
    if (!isOwnName || !isOwnPage) return c.text('This page is available only at its own address.\n', 403);
    if (!isSame(c.req.path.split('/')[1] ?? '', token))
      return c.text('Open the full link that `esign listen --inspect` printed.\n', 403);
    return next();
  });
}

function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Compares in constant time, regardless of length. */
function isSame(given: string, token: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(token));
}
