import { BadResponseError, EsignError, ServiceError, StoppedError } from '../kernel/errors.ts';
import { entryOf } from '../kernel/json.ts';

/** The exit codes. A process that is ended by a signal raises it again instead. */
export const EXIT = {
  ok: 0,
  unexpected: 1,
  usage: 2,
  auth: 3,
  notFound: 4,
  invalidState: 5,
  validation: 6,
  limited: 7,
  unreachable: 8,
  storage: 9,
  partial: 10,
  unexpectedStatus: 11,
  waitTimeout: 124,
  /** For Ctrl-C. */
  interrupted: 130,
  /** For SIGTERM. */
  terminated: 143,
} as const;

/** The meaning of each code. */
export const EXIT_MEANINGS: Readonly<Record<number, string>> = {
  [EXIT.ok]: 'done',
  [EXIT.unexpected]: 'unexpected error',
  [EXIT.usage]: 'invalid flags, arguments, files, or settings; nothing was sent',
  [EXIT.auth]: 'API key refused or missing',
  [EXIT.notFound]: 'not found',
  [EXIT.invalidState]: 'not possible in the current status',
  [EXIT.validation]: 'refused by the service as invalid',
  [EXIT.limited]: 'rate limit or quota exceeded',
  [EXIT.unreachable]: 'service unreachable; a write may have happened',
  [EXIT.storage]: 'storage error, or a checksum, seal, or signature is invalid',
  [EXIT.partial]: 'some items failed or were not started',
  [EXIT.unexpectedStatus]: 'an envelope ended in an unexpected status',
  [EXIT.waitTimeout]: 'timed out while waiting',
  [EXIT.interrupted]: 'interrupted',
  [EXIT.terminated]: 'terminated',
};

const BY_CODE: Readonly<Record<string, number>> = {
  USAGE: EXIT.usage,
  REQUEST_ID_USED: EXIT.usage,
  READ_ONLY: EXIT.usage,
  RECIPIENT_NOT_ALLOWED: EXIT.usage,
  TOO_MANY_EMAILS: EXIT.usage,
  CONFIRMATION_REQUIRED: EXIT.usage,
  POLICY_UNUSABLE: EXIT.usage,
  NO_PROFILE: EXIT.auth,
  UNAUTHORIZED: EXIT.auth,
  FORBIDDEN: EXIT.auth,
  NOT_FOUND: EXIT.notFound,
  INVALID_STATE: EXIT.invalidState,
  REMINDED_RECENTLY: EXIT.invalidState,
  VALIDATION_ERROR: EXIT.validation,
  RATE_LIMITED: EXIT.limited,
  QUOTA_EXCEEDED: EXIT.limited,
  NETWORK: EXIT.unreachable,
  TIMEOUT: EXIT.unreachable,
  BAD_RESPONSE: EXIT.unreachable,
  UNKNOWN_OUTCOME: EXIT.unreachable,
  INTERRUPTED: EXIT.interrupted,
  NOT_VERIFIED: EXIT.storage,
  PARTIAL: EXIT.partial,
  MAX_REQUESTS: EXIT.partial,
  OUTPUT_CLOSED: EXIT.partial,
  STOP_IF: EXIT.partial,
  STOP_ON_ERROR: EXIT.partial,
  UNEXPECTED_STATUS: EXIT.unexpectedStatus,
  WAIT_TIMEOUT: EXIT.waitTimeout,
};

/** Exit codes for unknown error codes, by HTTP status. 400 is missing because it is ambiguous. */
const BY_STATUS: Readonly<Record<number, number>> = {
  401: EXIT.auth,
  403: EXIT.auth,
  404: EXIT.notFound,
  429: EXIT.limited,
};

/** Returns the exit code of an error, by its code or else by its HTTP status. */
export function exitCodeOf(error: unknown): number {
  if (!(error instanceof EsignError)) return EXIT.unexpected;
  if (error instanceof StoppedError && error.cause !== undefined) return exitCodeOf(error.cause);
  if (error.code.startsWith('STORAGE_')) return EXIT.storage;
  if (error instanceof BadResponseError) return EXIT.unreachable;
  const known = entryOf(BY_CODE, error.code);
  if (known !== undefined) return known;
  if (!(error instanceof ServiceError)) return EXIT.unexpected;
  return error.status >= 500 ? EXIT.unreachable : (BY_STATUS[error.status] ?? EXIT.unexpected);
}
