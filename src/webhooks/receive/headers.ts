/** Headers that may contain a secret of the sender. */
const SECRET_HEADER = /^(?:(?:proxy-)?authorization|(?:set-)?cookie2?)$|secret|token|password|api-?key/i;

/** Redacts secrets in headers; `shown` makes every name and value fit to show. The journal stores them unredacted, for forwarding. */
export function shownHeaders(
  headers: readonly (readonly [string, string])[],
  shown = (text: string) => text,
): [string, string][] {
  return headers.map(([name, value]) => [
    shown(name),
    SECRET_HEADER.test(name) ? '[redacted]' : shown(value),
  ]);
}
