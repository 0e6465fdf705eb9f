import { BadResponseError, NoApiError, ServiceError } from '../kernel/errors.ts';
import type { SendRequest } from './http.ts';

/** The beginning of all routes (API document). The controls of a sandbox have others. */
export const ROUTES = '/esign/';
/** A list that every account has, even if it is empty. */
const LIST = '/esign/templates';
const LISTS = /^\/esign\/(?:envelopes|templates)(?:\?|$)/;

/**
 * Distinguishes a base URL without the API from a missing ID: both get a 404. Unless something was found before, a 404 is
 * followed by one request for a list.
 * @throws NoApiError if a list is missing, too. The most common cause is a base URL without its path.
 */
export function withApiCheck(send: SendRequest, baseUrl: string): SendRequest {
  let exists: Promise<boolean> | undefined;
  return async (request) => {
    try {
      const response = await send(request);
      exists = Promise.resolve(true);
      return response;
    } catch (error) {
      if (!isMissing(error) || !request.path.startsWith(ROUTES)) throw error;
      const isList = request.method === 'GET' && LISTS.test(request.path);
      exists ??= isList ? Promise.resolve(false) : hasList(send, request.signal);
      if (await exists) throw error;
      throw noApi(baseUrl);
    }
  };
}

function isMissing(error: unknown): boolean {
  return (error instanceof ServiceError || error instanceof BadResponseError) && error.status === 404;
}

/** Returns false only if the service has no such list. */
async function hasList(send: SendRequest, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    await send({ method: 'GET', path: LIST, query: { pageSize: '1' }, signal });
    return true;
  } catch (error) {
    return !isMissing(error);
  }
}

function noApi(baseUrl: string): NoApiError {
  const likely = `${new URL(baseUrl).origin}/api/v1`;
  return baseUrl === likely
    ? new NoApiError(baseUrl, undefined, 'Check the base URL: `esign profiles show`.')
    : new NoApiError(baseUrl, likely, `Did you mean ${likely}?`);
}
