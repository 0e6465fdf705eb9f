import { type ErrorDetails, EsignError } from '../kernel/errors.ts';
import { ApiError } from './service/base/errors.ts';

/** The sandbox refused an action, or it is closed. `code` is that of the API, such as NOT_FOUND or INVALID_STATE, or CLOSED. */
export class SandboxError extends EsignError {
  static override readonly name = 'SandboxError';
  override readonly name = 'SandboxError';
  /** The HTTP status the API gives this code; undefined for CLOSED. */
  readonly status: number | undefined;
  /** Messages by field, of a VALIDATION_ERROR. */
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

/** The error as the users of `esign-cli/sandbox` get it: a refusal with its details in the message. */
export function asSandboxError(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const { code, status, details } = error;
  const fields = Object.entries(details ?? {}).map(([field, texts]) => `${field}: ${texts.join('; ')}`);
  const message = [error.message, ...fields].join('. ');
  return new SandboxError(code, message, { status, details, cause: error });
}
