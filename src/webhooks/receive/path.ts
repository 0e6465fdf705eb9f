/**
 * Returns true if requests for both paths arrive at the same place. A trailing slash is ignored, a request may name the whole URL (RFC 9112,
 * section 3.2.2), and escaped letters are equal to themselves (RFC 3986, section 6.2.2.2).
 */
export function isSamePath(a: string, b: string): boolean {
  return normalized(a) === normalized(b);
}

const ORIGIN = /^https?:\/\/[^/?#]*/i;
/** An escaped letter, digit, hyphen, dot, underscore, or tilde. */
const ESCAPED = /%(?:2[DE]|3\d|[46][1-9A-F]|[57][\dA]|5F|7E)/gi;

function normalized(path: string): string {
  return path
    .replace(ORIGIN, '')
    .replace(ESCAPED, (code) => decodeURIComponent(code))
    .replace(/\/$/, '');
}
