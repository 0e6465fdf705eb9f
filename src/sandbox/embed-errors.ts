import { type ErrorDetails, EsignError } from '../kernel/errors.ts';
import { ApiError } from './service/base/errors.ts';

/**
 * The error when the sandbox refuses an action or is closed. `code` is an API error code, such as NOT_FOUND or INVALID_STATE, or CLOSED.
 */
export class SandboxError extends EsignError {
  static override readonly name = 'SandboxError';
  override readonly name = 'SandboxError';
  /** The HTTP status that the API returns with this code; undefined for CLOSED. */
  readonly status: number | undefined;
  /** The messages of a VALIDATION_ERROR by field. */
  readonly details: ErrorDetails | undefined;

  constructor(
    code: string,
    message: string,
    facts: { status?: number | undefined; details?: ErrorDetails | undefined; cause?: unknown } = {},
  ) {
    super(code, message, facts);
    this.status = facts.status;
    this.details = facts.details;
  }
}

export function closedError(cause?: unknown): SandboxError {
  return new SandboxError('CLOSED', 'The sandbox is closed.', { cause });
}

/** Converts an error for the users of `esign-cli/sandbox`. An API error becomes a SandboxError with the details in its message. */
export function asSandboxError(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const { code, status, details } = error;
  const fields = Object.entries(details ?? {}).map(([field, texts]) => `${field}: ${texts.join('; ')}`);
  const message = [error.message, ...fields].join('. ');
  return new SandboxError(code, message, { status, details, cause: error });
}
