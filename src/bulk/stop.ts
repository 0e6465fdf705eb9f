import {
  BadResponseError,
  EsignError,
  JournalError,
  messageOf,
  NetworkError,
  ServiceError,
  UnknownOutcomeError,
} from '../kernel/errors.ts';

/** Why a run ended before its rows did. It can be resumed. */
export class Stop extends Error {
  override readonly name = 'Stop';
  /** A stable word for the journal. */
  readonly code: string;

  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
    this.code = cause instanceof EsignError ? cause.code : cause instanceof Error ? cause.name : 'UNEXPECTED';
  }

  /** A stop that the user asked for beforehand. */
  static because(code: string, message: string): Stop {
    return new Stop(new AskedToStop(code, message));
  }
}

/** `--max-requests` or `--stop-on-error` was reached. */
export class AskedToStop extends EsignError {
  override readonly name = 'AskedToStop';
}

/** Errors that every further row would meet as well. */
const OF_THE_RUN = new Set([
  'UNAUTHORIZED',
  'FORBIDDEN',
  'QUOTA_EXCEEDED',
  'RATE_LIMITED',
  'UNKNOWN_OUTCOME',
]);

/** Whose an error is: this row's, the whole run's, or that of a service which is away for a while. */
export function decides(error: unknown): 'row' | 'run' | 'later' {
  if (error instanceof JournalError) return 'run';
  if (error instanceof NetworkError || error instanceof BadResponseError) return 'later';
  if (error instanceof ServiceError && error.status >= 500) return 'later';
  // Only sending gets here with it, and a second sending is refused.
  if (error instanceof UnknownOutcomeError) return 'later';
  if (error instanceof EsignError) return OF_THE_RUN.has(error.code) ? 'run' : 'row';
  return 'run';
}
