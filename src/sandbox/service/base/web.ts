import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { KeyRecord } from '../../model.ts';
import { asApiError, errorText, notFound } from './errors.ts';

/**
 * The context of a handler: Node's request and response, the key of an authenticated request, and `caller`, which is also set before
 * authentication.
 */
export interface ServiceEnv {
  Bindings: HttpBindings;
  Variables: {
    key: KeyRecord;
    caller: KeyRecord | null;
    /** The sandbox's time when a page was requested; set for pages only. */
    now?: string;
  };
}

export type ServiceContext = Context<ServiceEnv>;

export function reply(c: ServiceContext, value: unknown, status: ContentfulStatusCode = 200): Response {
  return jsonText(c, JSON.stringify(value), status);
}

/** Converts any thrown value to the API's error response. */
export function errorResponse(c: ServiceContext, thrown: unknown): Response {
  const error = asApiError(thrown);
  return jsonText(c, errorText(error), error.status);
}

export function unknownRoute(c: ServiceContext): Response {
  return errorResponse(c, notFound('Route'));
}

function jsonText(c: ServiceContext, text: string, status: ContentfulStatusCode): Response {
  return c.body(text, status, { 'Content-Type': 'application/json; charset=utf-8' });
}
