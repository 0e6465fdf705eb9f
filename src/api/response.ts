import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { BadResponseError, codeOf, ServiceError } from '../kernel/errors.ts';
import { cutBelow, isDeeperThan, isRecord, ownValue } from '../kernel/json.ts';
import { BodyLimitError, readBounded } from '../kernel/streams.ts';
import { tryParseExactJson } from '../kernel/text/exact-json.ts';
import type { RateLimit } from './rate-headers.ts';
import { errorResponseSchema, matchesSchema } from './schemas.ts';

export interface HttpResponse {
  status: number;
  /** Parsed JSON; undefined for an empty body. */
  body: unknown;
}

export interface RawResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
const UTF8 = new TextDecoder();

/** Reads the whole response as text. @throws BadResponseError if it is too large. */
export async function readText(response: {
  statusCode: number;
  headers: RawResponse['headers'];
  body: AsyncIterable<Uint8Array>;
}): Promise<string> {
  try {
    const bytes = await readBounded(response.body, MAX_RESPONSE_BYTES);
    return UTF8.decode(decompressed(bytes, encodingOf(response.headers)));
  } catch (error) {
    if (!(error instanceof BodyLimitError)) throw error;
    throw new BadResponseError('The response is larger than 64 MiB, so esign stopped reading it.', {
      status: response.statusCode,
      hint: 'Check that the base URL points to the e-signature API: `esign profiles show`.',
    });
  }
}

function encodingOf(headers: RawResponse['headers']): string {
  return String(headers['content-encoding'] ?? '').toLowerCase();
}

const DECOMPRESS: Readonly<Record<string, typeof gunzipSync>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

/**
 * Decompresses a body, since some gateways compress without being asked. Returns it unchanged if it is not compressed as its header
 * says. @throws BodyLimitError
 */
function decompressed(bytes: Buffer, encodings: string): Buffer {
  try {
    return encodings
      .split(',')
      .reduceRight(
        (body, name) =>
          ownValue(DECOMPRESS, name.trim())?.(body, { maxOutputLength: MAX_RESPONSE_BYTES }) ?? body,
        bytes,
      );
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') throw new BodyLimitError();
    return bytes;
  }
}

/** The deepest nesting of JSON that is read. What is nested deeper can overflow the stack of whatever processes it. */
const MAX_DEPTH = 100;

/**
 * Returns the parsed JSON of a response, or undefined if the body is empty or something else. In errors and, on request, in lists, what is
 * nested too deeply is replaced by null, so that it doesn't hide the rest.
 * @throws BadResponseError for a redirect, or JSON that is nested too deeply.
 */
function bodyOf(raw: RawResponse, url: string, cutsDeep: boolean): unknown {
  if (raw.status >= 300 && raw.status < 400) throw redirected(raw, url);
  const body = raw.text.trim() === '' ? undefined : tryParseExactJson(raw.text);
  if (!isDeeperThan(body, MAX_DEPTH)) return body;
  if (cutsDeep || raw.status >= 400) return cutBelow(body, MAX_DEPTH);
  throw new BadResponseError(
    `${new URL(url).origin} returned JSON that is nested deeper than ${MAX_DEPTH} levels.`,
    {
      status: raw.status,
      hint: 'The metadata of the envelope may cause this. Ask the service to correct it.',
    },
  );
}

/** Returns the body of a response. @throws ServiceError or BadResponseError for anything else than a success of the API. */
export function interpret(
  raw: RawResponse,
  rate: RateLimit,
  { url, cutsDeep = false }: { url: string; cutsDeep?: boolean | undefined },
): HttpResponse {
  const { status } = raw;
  const body = bodyOf(raw, url, cutsDeep);
  if (raw.text.trim() === '' && status < 300) return { status, body: undefined };
  if (isRecord(body) && 'error' in body && matchesSchema(errorResponseSchema, body)) {
    throw new ServiceError(body.error.code, body.error.message ?? body.error.code, {
      status,
      details: readDetails(body.error.details),
      ...limitIn(rate),
    });
  }
  // Gateways limit requests, too, with their own bodies.
  if (status === 429)
    throw new ServiceError('RATE_LIMITED', `${new URL(url).origin} returned 429: too many requests`, {
      status,
      ...limitIn(rate),
    });
  // They also check keys.
  if (status === 401)
    throw new ServiceError('UNAUTHORIZED', `${new URL(url).origin} returned 401: the API key was refused`, {
      status,
    });
  if (status >= 400 || body === undefined) throw notTheApi(raw, url, rate);
  return { status, body };
}

/** Returns when a refused request may be sent again. While the window has room, its reset doesn't matter: another limit refused it. */
function limitIn({ remaining, resetAt, retryAfterMs }: RateLimit): Partial<RateLimit> {
  return { resetAt: remaining ? undefined : resetAt, retryAfterMs };
}

function redirected(raw: RawResponse, url: string): BadResponseError {
  const location = raw.headers.location;
  const target =
    typeof location === 'string' && URL.canParse(location, url)
      ? new URL(location, url).origin
      : 'another address';
  return new BadResponseError(
    `${new URL(url).origin} returned a redirect (${raw.status}) to ${target}, which was not followed.`,
    {
      status: raw.status,
      hint: 'Check the base URL: `esign profiles show`. Redirects are never followed, because they could expose the API key.',
    },
  );
}

function notTheApi(raw: RawResponse, url: string, rate: RateLimit): BadResponseError {
  const { status } = raw;
  const type = raw.headers['content-type'];
  const encoding = encodingOf(raw.headers);
  const kind = typeof type === 'string' ? type.split(';')[0] : 'no content type';
  return new BadResponseError(
    `${new URL(url).origin} returned ${status} with an unexpected body (${kind}, ${encoding && `${encoding}, `}${raw.text.length} characters).`,
    {
      status,
      retryAfterMs: rate.retryAfterMs,
      hint: hintFor(status),
    },
  );
}

function hintFor(status: number): string {
  if (status === 407)
    return 'The proxy requires a username and password. Set HTTP_PROXY=http://user:password@host:port.';
  if (status >= 500)
    return 'The service, or a proxy in front of it, is not available. Try again later. If this continues, check the base URL with `esign profiles show`.';
  return 'A login page, a proxy, or the wrong base URL can cause this. Check the base URL with `esign profiles show`.';
}

/** Reads `details`, which maps field names to lists of messages. Single strings and nested values are accepted, too. */
function readDetails(value: unknown): Record<string, string[]> | undefined {
  if (!isRecord(value)) return undefined;
  const details: Record<string, string[]> = {};
  for (const [field, messages] of Object.entries(value)) {
    const list = Array.isArray(messages) ? messages : [messages];
    details[field] = list.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)));
  }
  return details;
}
