import { BadResponseError, EsignError, ServiceError, StoppedError } from '../kernel/errors.ts';
import { wordList } from '../kernel/text/word-list.ts';

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

export const EXIT_MEANINGS: Readonly<Record<number, string>> = {
  [EXIT.ok]: 'success',
  [EXIT.unexpected]: 'unexpected error',
  [EXIT.usage]: 'invalid flags, arguments, files, or settings; nothing was sent',
  [EXIT.auth]: 'API key refused or missing',
  [EXIT.notFound]: 'not found',
  [EXIT.invalidState]: 'not possible in the current status',
  [EXIT.validation]: 'refused by the service as invalid',
  [EXIT.limited]: 'rate limit or quota exceeded',
  [EXIT.unreachable]: 'service unreachable; the outcome of a write may be unknown',
  [EXIT.storage]: 'storage error, or an invalid checksum, seal, or signature',
  [EXIT.partial]: 'some items failed or were not started',
  [EXIT.unexpectedStatus]: 'a watched envelope ended in another status',
  [EXIT.waitTimeout]: 'timed out while waiting',
  [EXIT.interrupted]: 'interrupted',
  [EXIT.terminated]: 'terminated',
};

/** The error codes that lead to each exit code. */
const ERROR_CODES: Readonly<Record<number, readonly string[]>> = {
  [EXIT.usage]: wordList(`USAGE REQUEST_ID_USED READ_ONLY RECIPIENT_NOT_ALLOWED TOO_MANY_EMAILS
    CONFIRMATION_REQUIRED POLICY_UNUSABLE`),
  [EXIT.auth]: ['NO_PROFILE', 'UNAUTHORIZED', 'FORBIDDEN'],
  [EXIT.notFound]: ['NOT_FOUND'],
  [EXIT.invalidState]: ['INVALID_STATE', 'REMINDED_RECENTLY'],
  [EXIT.validation]: ['VALIDATION_ERROR'],
  [EXIT.limited]: ['RATE_LIMITED', 'QUOTA_EXCEEDED'],
  [EXIT.unreachable]: ['NETWORK', 'TIMEOUT', 'BAD_RESPONSE', 'UNKNOWN_OUTCOME'],
  [EXIT.interrupted]: ['INTERRUPTED'],
  [EXIT.storage]: ['NOT_VERIFIED'],
  [EXIT.partial]: ['PARTIAL', 'ALL_ROWS_FAIL', 'OUTPUT_CLOSED'],
  [EXIT.unexpectedStatus]: ['UNEXPECTED_STATUS'],
  [EXIT.waitTimeout]: ['WAIT_TIMEOUT'],
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
  const known = Object.entries(ERROR_CODES).find(([, codes]) => codes.includes(error.code));
  if (known !== undefined) return Number(known[0]);
  if (!(error instanceof ServiceError)) return EXIT.unexpected;
  return error.status >= 500 ? EXIT.unreachable : (BY_STATUS[error.status] ?? EXIT.unexpected);
}
