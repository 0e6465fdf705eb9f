import { isRecord } from '../kernel/json.ts';
import type { Operation } from './api-document.ts';
import { DOCUMENT } from './document.ts';

export interface Route {
  operation: Operation;
  /** The ID in the path, if it is that of an envelope. */
  envelopeId: string | undefined;
}

/** Stands for paths and methods that the API document doesn't contain. */
export const OTHER_ROUTE = 'other';

/** Statuses of a proxy or gateway rather than the service: a proxy requires a password, or a gateway can't reach the service. */
const PROXY_STATUS = 407;
const GATEWAY_STATUSES = [502, 503, 504];

const ROUTES = DOCUMENT.operations.map((operation) => ({
  operation,
  pattern: new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`),
}));

export function findRoute(method: string, path: string): Route | typeof OTHER_ROUTE {
  const query = path.indexOf('?');
  const bare = query < 0 ? path : path.slice(0, query);
  for (const { operation, pattern } of ROUTES) {
    if (operation.method !== method) continue;
    const found = pattern.exec(bare);
    if (found !== null) return { operation, envelopeId: found[1] };
  }
  return OTHER_ROUTE;
}

export function errorCodeOf(body: unknown): string | undefined {
  const error = isRecord(body) ? body.error : undefined;
  return isRecord(error) && typeof error.code === 'string' ? error.code : undefined;
}

/**
 * Returns true if the response comes from the service. A redirect, a login page, or the error of a proxy or gateway has another shape.
 * Rate-limit headers indicate the service.
 */
export function isOfService(
  route: Route | typeof OTHER_ROUTE,
  status: number,
  headers: Readonly<Record<string, unknown>>,
  body: unknown,
): boolean {
  if (status < 200 || (status >= 300 && status < 400) || status === PROXY_STATUS) return false;
  if (headers['proxy-authenticate'] !== undefined) return false;
  const isRateLimited = DOCUMENT.rateHeaders.some((name) => headers[name.toLowerCase()] !== undefined);
  if (GATEWAY_STATUSES.includes(status) && !isRateLimited) return false;
  if (status >= 400)
    return isRecord(body) && isRecord(body.error) && (isRateLimited || errorCodeOf(body) !== undefined);
  const isAction = route !== OTHER_ROUTE && route.operation.reply === undefined;
  if (body === undefined) return isAction && (status === 204 || isRateLimited);
  return isRecord(body) && ('data' in body || isRateLimited || isAction);
}
