import { DOCUMENT } from './document.ts';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** A name that can't be an ID. */
const STORABLE_NAME = /^[a-z][a-z-]{0,39}$/;
/** Of HTTP itself, or of the servers and caches in between. */
const OF_HTTP =
  /^(date|connection|keep-alive|content-.+|transfer-encoding|trailer|upgrade|vary|etag|cache-control|expires|pragma|last-modified|server|server-timing|via|age|allow|location|retry-after|link|set-cookie|alt-svc|www-authenticate|accept-.+|access-control-.+|cross-origin-.+|strict-transport-security|x-content-type-options|x-frame-options|x-xss-protection|x-powered-by|x-cache|x-forwarded-.+|referrer-policy|permissions-policy|nel|report-to|reporting-endpoints)$/;
const NAMES = DOCUMENT.rateHeaders.map((name) => ({
  name,
  key: name.toLowerCase(),
  isReset: name.endsWith('Reset'),
}));
const RATE_KEYS = new Set(NAMES.map(({ key }) => key));
/** Undocumented names of one reply that are kept. */
const MAX_NAMES = 20;

/** Notes which headers a reply has, and the form of those that the API document shows. */
export function noteHeaders(
  headers: Headers,
  { status, hasBody }: { status: number; hasBody: boolean },
  note: (place: string, form: string) => void,
): void {
  // The document shows them for a key's requests, which those of an invalid key are not.
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
  // Below, a number of seconds from now; above, a Unix timestamp in milliseconds.
  return value.length < 9 ? 'relative' : value.length < 12 ? 'seconds' : 'milliseconds';
}

function contentTypeOf(value: string | string[] | undefined): string {
  if (value === undefined) return 'missing';
  return typeof value === 'string' && /^application\/json\s*(;|$)/i.test(value) ? 'json' : 'other';
}
