/**
 * Everything that can go wrong, as values of one small family. Each carries a stable code for scripts,
 * a sentence for people, and where possible a hint: the next thing to try.
 * Only `cli/` turns them into words on a terminal and exit codes.
 */
export interface ErrorFacts {
  hint?: string | undefined;
  cause?: unknown;
}

/** Marks these errors: `esign-cli/client` and `esign-cli/sandbox` each have their own copy of the classes. */
const MARK = Symbol.for('esign-cli.error');

export abstract class EsignError extends Error {
  /** Set by hand, because the bundler shortens class names and stack traces show them. */
  static override readonly name: string = 'EsignError';
  abstract override readonly name: string;
  readonly code: string;
  readonly hint: string | undefined;

  constructor(code: string, message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = code;
    this.hint = facts.hint;
  }
}
Object.defineProperty(EsignError.prototype, MARK, { value: true });
Object.defineProperty(EsignError, Symbol.hasInstance, { value: isInstance });

/** `instanceof` for these classes: also true for an instance of another copy of the class. */
function isInstance(this: typeof EsignError, value: unknown): boolean {
  if (Function.prototype[Symbol.hasInstance].call(this, value)) return true;
  if (typeof value !== 'object' || value === null || !(MARK in value)) return false;
  return this.name === 'EsignError' || ('name' in value && value.name === this.name);
}

/** Flags, arguments, files or configuration are wrong; nothing was sent. */
export class UsageError extends EsignError {
  static override readonly name = 'UsageError';
  override readonly name = 'UsageError';
  constructor(message: string, facts: ErrorFacts = {}) {
    super('USAGE', message, facts);
  }
}

/** A request ID was used before, for another template or other signers; nothing was sent. */
export class RequestIdUsedError extends EsignError {
  override readonly name = 'RequestIdUsedError';
  constructor(message: string, facts: ErrorFacts = {}) {
    super('REQUEST_ID_USED', message, facts);
  }
}

/** There is no key to call the service with. */
export class NoProfileError extends EsignError {
  static override readonly name = 'NoProfileError';
  override readonly name = 'NoProfileError';
  constructor(message: string, facts: ErrorFacts = {}) {
    super('NO_PROFILE', message, facts);
  }
}

/** Field name to messages, as in the API's VALIDATION_ERROR. */
export type ErrorDetails = Record<string, string[]>;

/** What a request was about. */
export interface Subject {
  kind: 'envelope' | 'template';
  id: string;
  /** Where there is no such one: the ids that may have been meant. */
  meant?: string[];
}

/** The service answered with an error in the API's shape. `code` is the service's own, known or not. */
export class ServiceError extends EsignError {
  static override readonly name = 'ServiceError';
  override readonly name = 'ServiceError';
  readonly status: number;
  readonly details: ErrorDetails | undefined;
  /** When the rate window resets, in ms since the epoch, where the service said so. */
  readonly resetAt: number | undefined;
  /** From Retry-After, in ms. */
  readonly retryAfterMs: number | undefined;
  /** Which envelope or template it was about, where the request named one. */
  subject: Subject | undefined;

  constructor(
    code: string,
    message: string,
    facts: ErrorFacts & {
      status: number;
      details?: ErrorDetails | undefined;
      resetAt?: number | undefined;
      retryAfterMs?: number | undefined;
    },
  ) {
    super(code, message, facts);
    this.status = facts.status;
    this.details = facts.details;
    this.resetAt = facts.resetAt;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** True when the service answered that it has no such envelope or template (API document: NOT_FOUND, 404). */
export function isNotFound(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === 'NOT_FOUND';
}

/** No reply: DNS, TLS, connection, time-out. */
export class NetworkError extends EsignError {
  static override readonly name = 'NetworkError';
  override readonly name = 'NetworkError';
  /** False only when it is certain that the service never saw the request. */
  readonly maybeReceived: boolean;
  /** True where trying again at once is of no use. */
  readonly isLasting: boolean;

  constructor(
    code: 'NETWORK' | 'TIMEOUT',
    message: string,
    facts: ErrorFacts & { maybeReceived: boolean; isLasting?: boolean | undefined },
  ) {
    super(code, message, facts);
    this.maybeReceived = facts.maybeReceived;
    this.isLasting = facts.isLasting ?? false;
  }
}

/** A reply came, but it is not the API's: not JSON, cut short, a login page, an envelope without an id. */
export class BadResponseError extends EsignError {
  static override readonly name = 'BadResponseError';
  override readonly name = 'BadResponseError';
  readonly status: number;
  constructor(message: string, facts: ErrorFacts & { status: number }) {
    super('BAD_RESPONSE', message, facts);
    this.status = facts.status;
  }
}

/** The outcome of a write is not known: the reply was lost and looking did not settle it. */
export class UnknownOutcomeError extends EsignError {
  static override readonly name = 'UnknownOutcomeError';
  override readonly name = 'UnknownOutcomeError';
  constructor(message: string, facts: ErrorFacts = {}) {
    super('UNKNOWN_OUTCOME', message, facts);
  }
}

export type StorageErrorCode =
  | 'STORAGE_NOT_CONFIGURED'
  | 'STORAGE_CREDENTIALS'
  | 'STORAGE_DENIED'
  | 'STORAGE_NOT_FOUND'
  | 'STORAGE_NOT_READY'
  | 'STORAGE_UNREACHABLE'
  | 'STORAGE_CORRUPT'
  | 'STORAGE_LOCAL';

/** The customer's bucket, its credentials, or the file that should have come from it. */
export class StorageError extends EsignError {
  static override readonly name = 'StorageError';
  override readonly name = 'StorageError';
  constructor(code: StorageErrorCode, message: string, facts: ErrorFacts = {}) {
    super(code, message, facts);
  }
}

/** stdout can't be written: a full disk behind it (OUTPUT), or a reader that has closed it (OUTPUT_CLOSED). */
export class OutputError extends EsignError {
  static override readonly name = 'OutputError';
  override readonly name = 'OutputError';
  declare readonly code: 'OUTPUT' | 'OUTPUT_CLOSED';
  constructor(code: 'OUTPUT' | 'OUTPUT_CLOSED', message: string, facts: ErrorFacts = {}) {
    super(code, message, facts);
  }
}

/** A journal can't be written any more; what was acknowledged before is safe. */
export class JournalError extends EsignError {
  static override readonly name = 'JournalError';
  override readonly name = 'JournalError';
  constructor(message: string, facts: ErrorFacts = {}) {
    super('JOURNAL', message, facts);
  }
}

/** Everybody who could be reminded was, within the gap asked for. */
export class RemindedRecentlyError extends EsignError {
  static override readonly name = 'RemindedRecentlyError';
  override readonly name = 'RemindedRecentlyError';
  constructor(message: string, facts: ErrorFacts = {}) {
    super('REMINDED_RECENTLY', message, facts);
  }
}

/** A bulk run ended before its rows did; `cause` says why. It can be resumed. */
export class StoppedError extends EsignError {
  static override readonly name = 'StoppedError';
  override readonly name = 'StoppedError';
}

/** A signature that was to be checked is not good. */
export class VerificationError extends EsignError {
  static override readonly name = 'VerificationError';
  override readonly name = 'VerificationError';
  constructor(message: string, facts: ErrorFacts = {}) {
    super('NOT_VERIFIED', message, facts);
  }
}

/** Some of several failed; each has been reported already. */
export class PartialError extends EsignError {
  static override readonly name = 'PartialError';
  override readonly name = 'PartialError';
  constructor(message: string, facts: ErrorFacts = {}) {
    super('PARTIAL', message, facts);
  }
}

/** A watched envelope ended in another status than the awaited one. */
export class UnexpectedStatusError extends EsignError {
  static override readonly name = 'UnexpectedStatusError';
  override readonly name = 'UnexpectedStatusError';
  constructor(message: string, facts: ErrorFacts = {}) {
    super('ENDED_OTHERWISE', message, facts);
  }
}

/** The user's `--timeout` of a wait ran out. */
export class WaitTimeoutError extends EsignError {
  static override readonly name = 'WaitTimeoutError';
  override readonly name = 'WaitTimeoutError';
  constructor(message: string, facts: ErrorFacts = {}) {
    super('WAIT_TIMEOUT', message, facts);
  }
}

/** What a write may end with whose outcome is unknown. */
type Ambiguous = NetworkError | BadResponseError | ServiceError | UnknownOutcomeError;

/** True when the service may have done what a write asked for although no readable reply said so. */
export function isAmbiguous(error: unknown): error is Ambiguous {
  if (error instanceof NetworkError) return error.maybeReceived;
  if (error instanceof BadResponseError || error instanceof UnknownOutcomeError) return true;
  return error instanceof ServiceError && (error.status >= 500 || GAVE_UP_STATUSES.has(error.status));
}

/** A proxy or the service stopped waiting (408, 499) or put the request off (425): it may have been processed all the same. */
const GAVE_UP_STATUSES: ReadonlySet<number> = new Set([408, 425, 499]);

/** True when the service could not be asked or could not answer: worth waiting out, by whoever has the time. */
export function isOutage(error: unknown): error is Ambiguous {
  return error instanceof NetworkError || isAmbiguous(error);
}

/** True when the key has made too many requests for now. */
export function isRateLimited(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.status === 429;
}

/** The message as a whole sentence, so that another can follow it. */
export function sentenceOf(error: Error): string {
  return /[.!?\u2026]$/.test(error.message) ? error.message : `${error.message}.`;
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The `code` property of a system or library error, where it has one. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
