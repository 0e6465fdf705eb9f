import type { IncomingMessage } from 'node:http';
import { ApiError, invalidBody } from './errors.ts';

/** Largest request body. */
const MOST_BYTES = 2 ** 20;

/**
 * The JSON value of a request's body, or undefined when there is none.
 * Throws VALIDATION_ERROR: 413 over 1 MiB, 400 for another content type, text that isn't UTF-8 or isn't JSON.
 */
export async function readJson(incoming: IncomingMessage): Promise<unknown> {
  if (Number(incoming.headers['content-length'] ?? 0) > MOST_BYTES) throw tooLarge();
  const bytes = await readBytes(incoming);
  if (bytes.length === 0) return undefined;
  const type = (incoming.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json') throw invalidBody({ body: ['Send Content-Type: application/json'] });
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return value;
  } catch {
    throw invalidBody({ body: ['Must be JSON'] }, 'The request body is not JSON');
  }
}

async function readBytes(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    // Not destroying: the refusal still has to travel over this connection.
    for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
      if (!Buffer.isBuffer(chunk)) continue;
      size += chunk.length;
      if (size > MOST_BYTES) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw invalidBody({ body: ['The body was cut short'] });
  }
  return Buffer.concat(chunks);
}

function tooLarge(): ApiError {
  return invalidBody({ body: ['Must be at most 1 MiB'] }, 'The request body is too large', 413);
}
