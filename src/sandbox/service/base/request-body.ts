import type { IncomingMessage } from 'node:http';
import { parseJson } from '../../../kernel/json.ts';
import { BodyLimitError, readBounded } from '../../../kernel/streams.ts';
import { type ApiError, invalidBody } from './errors.ts';

/** The maximum size of a request body. */
const MAX_BYTES = 2 ** 20;

/**
 * Returns the JSON value of a request's body, or undefined if it has none. Throws VALIDATION_ERROR: 413 over 1 MiB, 400 for another content
 * type or text that isn't UTF-8 or JSON. `most` is the maximum body size, in bytes.
 */
export async function readJson(incoming: IncomingMessage, most = MAX_BYTES): Promise<unknown> {
  const bytes = await readBytes(incoming, most);
  if (bytes.length === 0) return undefined;
  const type = (incoming.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json') throw invalidBody({ body: ['Send Content-Type: application/json'] });
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw invalidBody({ body: ['Must be JSON'] }, 'The request body is not JSON');
  }
}

/** Returns the fields of a posted form. Throws VALIDATION_ERROR 413 over 1 MiB. */
export async function readForm(incoming: IncomingMessage): Promise<URLSearchParams> {
  return new URLSearchParams((await readBytes(incoming, MAX_BYTES)).toString());
}

async function readBytes(incoming: IncomingMessage, most: number): Promise<Buffer> {
  if (Number(incoming.headers['content-length'] ?? 0) > most) throw tooLarge(most);
  try {
    // The stream stays open because the error is sent over this connection.
    return await readBounded(incoming.iterator({ destroyOnReturn: false }), most);
  } catch (error) {
    if (!(error instanceof BodyLimitError)) throw invalidBody({ body: ['The body was cut short'] });
    throw tooLarge(most);
  }
}

function tooLarge(most: number): ApiError {
  return invalidBody(
    { body: [`Must be at most ${most / MAX_BYTES} MiB`] },
    'The request body is too large',
    413,
  );
}
