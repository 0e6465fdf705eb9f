import { NOT_PASSED_ON } from '../forward/send.ts';

/** Characters that are safe between single quotes in a shell and in a terminal. */
const PLAIN = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u;
const PLAIN_ASCII = /^[\x20-\x7e]*$/;
/** The maximum body size on the command line. Linux allows 128 KiB per argument, but the command should stay readable. */
const MAX_INLINE_BYTES = 16 * 1024;

/** Returns a POSIX shell command that sends a delivery again. */
export function curlCommand(
  url: string,
  headers: readonly (readonly [string, string])[],
  body: Uint8Array,
): string {
  const passed = headers.filter(
    ([name, value]) => !NOT_PASSED_ON.has(name.toLowerCase()) && PLAIN_ASCII.test(`${name}${value}`),
  );
  // curl omits a header without a value unless it ends in a semicolon.
  const options = passed.map(
    ([name, value]) => `-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`,
  );
  const text = Buffer.from(body).toString('utf8');
  const isInline = text.length <= MAX_INLINE_BYTES && PLAIN.test(text) && Buffer.from(text).equals(body);
  // --data-raw doesn't interpret a leading @. Binary bodies are piped.
  const data = isInline ? `--data-raw ${quoted(text)}` : '--data-binary @-';
  const source = isInline ? '' : `printf %s ${Buffer.from(body).toString('base64') || "''"} | base64 -d | `;
  return `${source}${['curl -sS -X POST', quoted(url), ...options, data].join(' \\\n  ')}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
