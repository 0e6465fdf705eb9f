import { createHash, timingSafeEqual } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import { createMiddleware } from 'hono/factory';

export interface InspectorEnv {
  Bindings: HttpBindings;
}

/** Loads only the page's own files, allows no framing, and treats no text as markup or script. */
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
  // The link is secret, so it must not be sent to other sites (referrer) or cached.
  ['Referrer-Policy', 'no-referrer'],
  ['Cache-Control', 'no-store'],
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
];

/**
 * Allows only requests whose path contains the token of the link. A cookie would be unsafe, because browsers also send it to
 * other servers on this machine. Requests with a foreign host name (DNS rebinding) or from another origin are rejected first.
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

/** Compares two tokens in constant time, whatever their length. */
function isSame(given: string, token: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(token));
}
