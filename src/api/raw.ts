import { isAmbiguous, UnknownOutcomeError, UsageError } from '../kernel/errors.ts';
import { itemTexts } from '../kernel/text/json-text.ts';
import type { Method, RawReply, SendRequest } from './http.ts';
import { type ApiPage, eachPage } from './pages.ts';

/** Any call, including undocumented ones. */
export interface RawCall {
  method: Method;
  /** From `callPath`. */
  path: string;
  query: readonly [string, string][];
  /** JSON text to send as is. */
  bodyText?: string | undefined;
  signal?: AbortSignal | undefined;
  onReply?: ((reply: RawReply) => void) | undefined;
}

// No HEAD: without a body, the API's refusals can't be distinguished from those of a proxy.
export const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const EXAMPLE = 'A path is relative to the base URL, like /esign/envelopes.';

/** Returns the method, which may be in any case. */
export function callMethod(word: string): Method {
  const method = METHODS.find((known) => known === word.toUpperCase());
  if (method !== undefined) return method;
  throw new UsageError(`Unknown method "${word}".`, { hint: `Methods: ${METHODS.join(', ')}.` });
}

/** Returns true for calls that may change something. */
export function isWrite(method: Method): boolean {
  return method !== 'GET';
}

/**
 * The path of a call, below the base URL and nowhere else: the key goes along.
 * A whole URL is taken where it is one below the base URL.
 * @throws UsageError for another host, `..` in any writing, and what a URL parser would read in another way.
 */
export function callPath(text: string, baseUrl: string): string {
  if (/[\s\p{Cc}\\#]/u.test(text))
    throw new UsageError(`The path "${text}" holds a blank, a control character, \\ or #.`, {
      hint: EXAMPLE,
    });
  const path = belowBase(text, baseUrl);
  const [bare = ''] = path.split('?');
  const climbsOut = bare.startsWith('//') || bare.split('/').some(climbs);
  if (climbsOut || !new URL(`${baseUrl}${path}`).href.startsWith(`${baseUrl}/`))
    throw new UsageError(`The path "${text}" leads out of the API.`, { hint: EXAMPLE });
  return path;
}

function belowBase(text: string, baseUrl: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text.startsWith('/') ? text : `/${text}`;
  if (text.startsWith(`${baseUrl}/`)) return text.slice(baseUrl.length);
  throw new UsageError(`${text} is not below ${baseUrl}; the key goes nowhere else.`, {
    hint: 'Another service is another profile: `esign profiles add NAME --base-url URL`.',
  });
}

/** `..` as it stands, percent-encoded, or between encoded slashes. */
function climbs(segment: string): boolean {
  const plain = segment
    .replaceAll(/%25/gi, '%')
    .replaceAll(/%2e/gi, '.')
    .replaceAll(/%2f|%5c/gi, '/');
  return plain.split('/').some((part) => part === '..' || part === '.');
}

/** The address of a call as it is sent, for showing it beforehand. */
export function callTarget(call: Pick<RawCall, 'path' | 'query'>): string {
  if (call.query.length === 0) return call.path;
  const query = new URLSearchParams(call.query).toString();
  return `${call.path}${call.path.includes('?') ? '&' : '?'}${query}`;
}

/**
 * Sends a call; the reply's JSON text as received, empty where it has no body.
 * @throws UnknownOutcomeError when the reply to a write was lost: it is never sent again.
 */
export async function sendCall(send: SendRequest, call: RawCall): Promise<string> {
  let text = '';
  const onReply = (reply: RawReply) => {
    text = reply.text;
    call.onReply?.(reply);
  };
  const { method, bodyText, signal } = call;
  try {
    await send({ method, path: callTarget(call), bodyText, signal, onReply });
    return text;
  } catch (error) {
    throw isWrite(method) ? lostWrite(error, call) : error;
  }
}

function lostWrite(error: unknown, call: RawCall): unknown {
  if (!isAmbiguous(error)) return error;
  return new UnknownOutcomeError(
    `${error.message} Whether the service did what ${call.method} ${call.path} asks is not known.`,
    { cause: error, hint: 'It was sent once. Look at what is there before you send it again.' },
  );
}

/**
 * Every item of a list as its JSON text, page after page, from the page the query names or the first; one with
 * an id comes once (`eachPage`).
 */
export async function* callPages(send: SendRequest, call: RawCall): AsyncGenerator<string, void, undefined> {
  const { signal, onReply } = call;
  const { path, from, pageSize } = listOf(call);
  for await (const { page, fresh } of eachPage(send, { path, pageSize, signal, onReply }, { from })) {
    const texts = textsOf(page);
    yield* fresh.flatMap((index) => texts[index] ?? []);
  }
}

/** A call's address without the page, which changes, and how many items it wants a page, as it says it. */
function listOf(call: RawCall): { path: string; from: number; pageSize: string | undefined } {
  const [path = '', ...rest] = callTarget(call).split('?');
  const query = new URLSearchParams(rest.join('?'));
  const [from, pageSize] = [firstPage(query.get('page') ?? '1'), query.get('pageSize') ?? undefined];
  query.delete('page');
  query.delete('pageSize');
  return { path: query.size === 0 ? path : `${path}?${query.toString()}`, from, pageSize };
}

/** The items as they were sent; as they were read, should the text be written in a way nobody writes it. */
function textsOf({ items, text }: ApiPage): string[] {
  const texts = itemTexts(text, 'data');
  return texts.length === items.length ? texts : items.map((item) => JSON.stringify(item));
}

function firstPage(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(`The page "${text}" is not a number from 1 on.`, {
    hint: 'Leave it out for all pages.',
  });
}
