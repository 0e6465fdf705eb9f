import { ServiceError, UnknownOutcomeError, UsageError } from '../kernel/errors.ts';
import { isAmbiguous, isNotFound } from '../kernel/request-failures.ts';
import { itemTexts } from '../kernel/text/json-text.ts';
import { command } from '../kernel/text/shell-words.ts';
import { isRead, type Method, type SendRequest } from './http.ts';
import { ROUTES } from './no-api.ts';
import { type ApiPage, eachPage } from './pages.ts';
import type { RawResponse } from './response.ts';

/** Any call to the API, including undocumented ones. */
export interface RawCall {
  method: Method;
  /** The result of `parseCallPath`. */
  path: string;
  query: readonly [string, string][];
  /** JSON text to send as is. */
  bodyText?: string | undefined;
  signal?: AbortSignal | undefined;
}

export const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const EXAMPLE = 'Use a path relative to the base URL, such as /esign/envelopes.';

function methodNamed(word: string): Method | undefined {
  return METHODS.find((known) => known === word.toUpperCase());
}

/** Returns true for a method in any case. */
export function isHttpMethod(word: string): boolean {
  return methodNamed(word) !== undefined;
}

/** Parses a method in any case. */
export function parseHttpMethod(word: string): Method {
  const method = methodNamed(word);
  if (method !== undefined) return method;
  throw new UsageError(`Unknown method "${word}".`, { hint: `The methods are ${METHODS.join(', ')}.` });
}

/**
 * Parses the path of a call. It must be below the base URL, because the key is sent along.
 * A full URL is accepted if it is below the base URL.
 * @throws UsageError for another host, `..` in any spelling, and anything that a URL parser would read differently.
 */
export function parseCallPath(text: string, baseUrl: string): string {
  if (/[\s\p{Cc}\\#]/u.test(text))
    throw new UsageError(`The path "${text}" contains a space, a control character, a backslash, or #.`, {
      hint: EXAMPLE,
    });
  const path = relativeToBase(text, baseUrl);
  const [bare = ''] = path.split('?');
  const escapesBase = bare.startsWith('//') || bare.split('/').some(hasDotSegment);
  if (escapesBase || !new URL(`${baseUrl}${path}`).href.startsWith(`${baseUrl}/`))
    throw new UsageError(`The path "${text}" is outside the API.`, { hint: EXAMPLE });
  return path;
}

function relativeToBase(text: string, baseUrl: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text.startsWith('/') ? text : `/${text}`;
  if (text.startsWith(`${baseUrl}/`)) return text.slice(baseUrl.length);
  throw new UsageError(`${text} is outside ${baseUrl}. The API key is never sent anywhere else.`, {
    hint: 'To use a different service, add a profile for it: `esign profiles add`.',
  });
}

/** Returns true if the segment contains `..` or `.`, either literally, percent-encoded, or between encoded slashes. */
function hasDotSegment(segment: string): boolean {
  const plain = segment
    .replaceAll(/%25/gi, '%')
    .replaceAll(/%2e/gi, '.')
    .replaceAll(/%2f|%5c/gi, '/');
  return plain.split('/').some((part) => part === '..' || part === '.');
}

/** Returns the path and query of a call as sent, to show them beforehand. */
export function pathWithQuery(call: Pick<RawCall, 'path' | 'query'>): string {
  if (call.query.length === 0) return call.path;
  const query = new URLSearchParams(call.query).toString();
  return `${call.path}${call.path.includes('?') ? '&' : '?'}${query}`;
}

/**
 * Sends a call. Returns the JSON text of the response as received, or an empty text for a response without a body.
 * @throws UnknownOutcomeError if the response to a write was lost. The write is never sent again.
 */
export async function sendCall(send: SendRequest, call: RawCall): Promise<string> {
  let text = '';
  const onResponse = (response: RawResponse) => {
    text = response.text;
  };
  const { method, bodyText, signal } = call;
  try {
    await send({ method, path: pathWithQuery(call), bodyText, signal, onResponse });
    return text;
  } catch (error) {
    if (isNotFound(error)) throw withRouteHint(error, call);
    throw isRead(method) ? error : asUnknownOutcome(error, call);
  }
}

/** Adds the most likely reason for a 404: the API's routes begin with /esign. */
function withRouteHint(error: ServiceError, call: RawCall): ServiceError {
  const target = pathWithQuery(call);
  if (target.startsWith(ROUTES)) return error;
  const likely = command('api', call.method, `${ROUTES.slice(0, -1)}${target}`);
  const hint = isRead(call.method) ? `Did you mean \`${likely}\`?` : `Routes begin with ${ROUTES}.`;
  return new ServiceError(error.code, error.message, { status: error.status, details: error.details, hint });
}

function asUnknownOutcome(error: unknown, call: RawCall): unknown {
  if (!isAmbiguous(error)) return error;
  return new UnknownOutcomeError(`${error.message} The outcome of ${call.method} ${call.path} is unknown.`, {
    cause: error,
    hint: 'The request was sent once. Check the current state before you send it again.',
  });
}

/** Yields every item of a list as JSON text, page after page. Items with an ID are yielded only once (`eachPage`). */
export async function* callPages(send: SendRequest, call: RawCall): AsyncGenerator<string, void, undefined> {
  const { signal } = call;
  for await (const { page, fresh } of eachPage(send, { path: withoutPaging(pathWithQuery(call)), signal })) {
    const texts = textsOf(page);
    yield* fresh.flatMap((index) => texts[index] ?? []);
  }
}

function withoutPaging(target: string): string {
  const [path = '', ...rest] = target.split('?');
  const query = new URLSearchParams(rest.join('?'));
  query.delete('page');
  query.delete('pageSize');
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

/** Returns the texts of the items as sent. If they can't be found in the text, serializes the parsed items instead. */
function textsOf({ items, text }: ApiPage): string[] {
  const texts = itemTexts(text, 'data');
  return texts.length === items.length ? texts : items.map((item) => JSON.stringify(item));
}
