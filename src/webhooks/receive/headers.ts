/** Headers that carry a secret of whoever sent them, whatever it looks like. */
const SECRET_HEADER = /^(?:(?:proxy-)?authorization|(?:set-)?cookie2?)$|secret|token|password|api-?key/i;

/** Headers as they may be shown: the journal keeps them whole, to pass them on. */
export function shownHeaders(headers: readonly (readonly [string, string])[]): [string, string][] {
  return headers.map(([name, value]) => [name, SECRET_HEADER.test(name) ? '[redacted]' : value]);
}
