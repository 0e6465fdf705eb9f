import type { IncomingMessage } from 'node:http';
import { parseJson } from '../../../kernel/json.ts';
import { BodyLimitError, readBounded } from '../../../kernel/streams.ts';
import { type ApiError, invalidBody } from './errors.ts';

/** The maximum size of a request body. */
const MAX_BYTES = 2 ** 20;

/**
 * Returns the JSON value of a request's body, or undefined if it has none. Throws VALIDATION_ERROR: 413 over 1 MiB, 400 for another content
 * type, text that isn't UTF-8 or JSON, or a number that can't be represented exactly. `most` is the maximum body size, in bytes.
 */
export async function readJson(incoming: IncomingMessage, most = MAX_BYTES): Promise<unknown> {
  if (Number(incoming.headers['content-length'] ?? 0) > most) throw tooLarge(most);
  const bytes = await readBytes(incoming, most);
  if (bytes.length === 0) return undefined;
  const type = (incoming.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json') throw invalidBody({ body: ['Send Content-Type: application/json'] });
  const { text, value } = parsed(bytes);
  const inexact = inexactNumber(text);
  if (inexact === undefined) return value;
  const shown = inexact.length > 40 ? `${inexact.slice(0, 40)}…` : inexact;
  throw invalidBody({ body: [`The number ${shown} would lose precision; send it as a string`] });
}

function parsed(bytes: Buffer): { text: string; value: unknown } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { text, value: parseJson(text) };
  } catch {
    throw invalidBody({ body: ['Must be JSON'] }, 'The request body is not JSON');
  }
}

async function readBytes(incoming: IncomingMessage, most: number): Promise<Buffer> {
  try {
    // The stream stays open because the error is sent over this connection.
    return await readBounded(incoming.iterator({ destroyOnReturn: false }), most);
  } catch (error) {
    if (!(error instanceof BodyLimitError)) throw invalidBody({ body: ['The body was cut short'] });
    if (error.limit === 'bytes') throw tooLarge(most);
    throw invalidBody({ body: ['Must not be sent in thousands of small pieces'] }, error.message, 413);
  }
}

function tooLarge(most: number): ApiError {
  return invalidBody(
    { body: [`Must be at most ${most / MAX_BYTES} MiB`] },
    'The request body is too large',
    413,
  );
}

/** A JSON string, or a number outside of strings. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Returns the first number in a JSON text that doesn't survive parsing and serializing unchanged, such as 1e400. */
function inexactNumber(json: string): string | undefined {
  return json.match(TOKEN)?.find((token) => !token.startsWith('"') && !isExact(token));
}

function isExact(token: string): boolean {
  const value = Number(token);
  return Number.isFinite(value) && decimal(token) === decimal(String(value));
}

/** Returns a normalized form of a number: `1.50e3` and `1500` both become `15e2`. */
function decimal(token: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(token) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  if (kept === '') return '0';
  return `${sign}${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`;
}
