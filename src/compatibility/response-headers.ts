import { DOCUMENT } from './document.ts';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Names that are stored. They can't be IDs. */
const STORABLE_NAME = /^[a-z][a-z-]{0,39}$/;
/** Headers of HTTP itself, or of servers and caches in between. */
const OF_HTTP =
  /^(date|connection|keep-alive|content-.+|transfer-encoding|trailer|upgrade|vary|etag|cache-control|expires|pragma|last-modified|server|server-timing|via|age|allow|location|retry-after|link|set-cookie|alt-svc|www-authenticate|accept-.+|access-control-.+|cross-origin-.+|strict-transport-security|x-content-type-options|x-frame-options|x-xss-protection|x-powered-by|x-cache|x-forwarded-.+|referrer-policy|permissions-policy|nel|report-to|reporting-endpoints)$/;
const NAMES = DOCUMENT.rateHeaders.map((name) => ({
  name,
  key: name.toLowerCase(),
  isReset: name.endsWith('Reset'),
}));
const RATE_KEYS = new Set(NAMES.map(({ key }) => key));
/** The maximum number of undocumented names stored per reply. */
const MAX_NAMES = 20;

/** Notes the headers of a reply, and the form of those in the API document. */
export function noteHeaders(
  headers: Headers,
  { status, hasBody }: { status: number; hasBody: boolean },
  note: (place: string, form: string) => void,
): void {
  // The document describes them for requests of a key. Requests with an invalid key don't count.
  if (status !== 401)
    for (const { name, key, isReset } of NAMES) note(`header ${name}`, formOf(headers[key], isReset));
  if (hasBody) note('header Content-Type', contentTypeOf(headers['content-type']));
  let others = 0;
  for (const name in headers) {
    if (RATE_KEYS.has(name) || OF_HTTP.test(name) || others >= MAX_NAMES) continue;
    others += 1;
    note(`header ${STORABLE_NAME.test(name) ? name : '*'}`, 'present');
  }
}

function formOf(value: string | string[] | undefined, isReset: boolean): string {
  if (value === undefined) return 'missing';
  if (typeof value !== 'string' || !/^\d+$/.test(value)) return 'string';
  if (!isReset) return 'integer';
  // A short number is in seconds from now; longer ones are Unix timestamps in seconds or milliseconds.
  return value.length < 9 ? 'relative' : value.length < 12 ? 'seconds' : 'milliseconds';
}

function contentTypeOf(value: string | string[] | undefined): string {
  if (value === undefined) return 'missing';
  return typeof value === 'string' && /^application\/json\s*(;|$)/i.test(value) ? 'json' : 'other';
}
