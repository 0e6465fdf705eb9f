import type { IncomingHttpHeaders } from 'node:http';

/** Content types that a page may post to any address without a preflight. The type may also be missing. */
const POSTED_UNASKED = /^(?:$|text\/plain|application\/x-www-form-urlencoded|multipart\/form-data)/i;
/** All browsers send this user agent, and a page can't change it without a preflight. */
const BROWSER = /^Mozilla\//;

/**
 * Returns true if a browser sent the request for a web page. If signatures aren't verified, any page the user opens could send
 * made-up events. Services send none of these headers, and send JSON as JSON. Current browsers send the page's origin; old ones
 * are recognized by their user agent and by content types that need no preflight.
 */
export function isFromWebPage(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  if (headers.origin !== undefined || (site !== undefined && site !== 'none')) return true;
  if (headers['sec-fetch-dest'] !== undefined || headers['sec-fetch-user'] !== undefined) return true;
  const isBrowser = BROWSER.test(headers['user-agent'] ?? '') || headers.referer !== undefined;
  return isBrowser && POSTED_UNASKED.test(headers['content-type'] ?? '');
}
