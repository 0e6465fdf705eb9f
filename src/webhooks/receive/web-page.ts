import type { IncomingHttpHeaders } from 'node:http';

/** A page may post these to any address without asking it first; so it may where it names none. */
const POSTED_UNASKED = /^(?:$|text\/plain|application\/x-www-form-urlencoded|multipart\/form-data)/i;
/** All browsers call themselves so, and no page can change it without asking first. */
const BROWSER = /^Mozilla\//;

/**
 * True for what a browser sends, or may have sent, for some page: without signatures any page the user opens could make up
 * events. Services send none of these headers, and their JSON as JSON. Browsers of today name the page's origin; old ones
 * are known by their name, and by a content type that they send unasked.
 */
export function isFromWebPage(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  if (headers.origin !== undefined || (site !== undefined && site !== 'none')) return true;
  if (headers['sec-fetch-dest'] !== undefined || headers['sec-fetch-user'] !== undefined) return true;
  const isBrowser = BROWSER.test(headers['user-agent'] ?? '') || headers.referer !== undefined;
  return isBrowser && POSTED_UNASKED.test(headers['content-type'] ?? '');
}
