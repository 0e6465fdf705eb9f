import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { ErrorDetails } from '../../../kernel/errors.ts';
import { diskReason } from '../../../kernel/files/disk-reason.ts';
import type { ServiceErrorCode } from '../../../kernel/vocabulary.ts';

/** The HTTP status of each error code (Errors). INTERNAL_ERROR is for unexpected failures, for which the API document has no code. */
const STATUS = {
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  VALIDATION_ERROR: 400,
  INVALID_STATE: 400,
  RATE_LIMITED: 429,
  QUOTA_EXCEEDED: 403,
  INTERNAL_ERROR: 500,
} as const satisfies Record<ServiceErrorCode | 'INTERNAL_ERROR', ContentfulStatusCode>;

type ApiErrorCode = keyof typeof STATUS;

/** An error of the API, which a handler throws and the client receives as JSON. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: ApiErrorCode;
  readonly status: ContentfulStatusCode;
  readonly details: ErrorDetails | undefined;

  constructor(
    code: ApiErrorCode,
    message: string,
    facts: { details?: ErrorDetails; status?: ContentfulStatusCode } = {},
  ) {
    super(message);
    this.code = code;
    this.status = facts.status ?? STATUS[code];
    this.details = facts.details;
  }
}

/** Creates a VALIDATION_ERROR with its details (Create envelope body). */
export function invalidBody(
  details: ErrorDetails,
  message = 'The request is not valid',
  status: ContentfulStatusCode = 400,
): ApiError {
  return new ApiError('VALIDATION_ERROR', message, { details, status });
}

export function invalidState(message: string): ApiError {
  return new ApiError('INVALID_STATE', message);
}

export function notFound(what: string): ApiError {
  return new ApiError('NOT_FOUND', `${what} not found`);
}

export function templateNotFound(): ApiError {
  return notFound('Template');
}

/** Returns the JSON of an error response (Response envelope), with `details` only if there are any. */
export function errorText(error: ApiError): string {
  const { code, message, details } = error;
  return JSON.stringify({ error: details ? { code, message, details } : { code, message } });
}

/** Converts any thrown value to an ApiError. An unexpected error becomes a 500 with its reason. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError('INTERNAL_ERROR', `The sandbox could not complete the request: ${diskReason(error)}`);
}
