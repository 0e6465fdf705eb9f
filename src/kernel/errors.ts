/**
 * The errors of the program. Each has a stable code for scripts, a message, and if possible a hint with the next step.
 * Only `cli/` converts them to output and exit codes.
 */
export interface ErrorFacts {
  /** The next step. Commands in backticks that have no placeholder are ready to run. */
  hint?: string | undefined;
  /** Messages by field, or by place in a file. */
  details?: ErrorDetails | undefined;
  cause?: unknown;
  /** What a failed write did, if the class of the error doesn't show it. */
  outcome?: FailedWriteOutcome | undefined;
  /** The bulk run that failed. */
  run?: string | undefined;
}

/** What a failed write did: nothing, everything, or it is unknown. */
export type FailedWriteOutcome = 'none' | 'done' | 'unknown';

/** Marks instances of these classes, because `esign-cli/client` and `esign-cli/sandbox` each contain a copy of them. */
const MARK = Symbol.for('esign-cli.error');

export abstract class EsignError extends Error {
  /** Set explicitly because the bundler shortens class names, which stack traces show. */
  static override readonly name: string = 'EsignError';
  abstract override readonly name: string;
  readonly code: string;
  readonly hint: string | undefined;
  readonly details: ErrorDetails | undefined;
  readonly outcome: FailedWriteOutcome | undefined;
  readonly run: string | undefined;

  constructor(code: string, message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = code;
    this.hint = facts.hint;
    this.details = facts.details;
    this.outcome = facts.outcome;
    this.run = facts.run;
  }
}
Object.defineProperty(EsignError.prototype, MARK, { value: true });
Object.defineProperty(EsignError, Symbol.hasInstance, { value: isInstance });

/** Makes `instanceof` true for an instance of another copy of the class. */
function isInstance(this: typeof EsignError, value: unknown): boolean {
  if (Function.prototype[Symbol.hasInstance].call(this, value)) return true;
  if (typeof value !== 'object' || value === null || !(MARK in value)) return false;
  return this.name === 'EsignError' || ('name' in value && value.name === this.name);
}

interface CodedError<Name extends string> extends EsignError {
  readonly name: Name;
}
type ErrorClass<Name extends string> = new (message: string, facts?: ErrorFacts) => CodedError<Name>;

/** Creates a class of errors that all have the same code. */
function errorClass<Name extends string>(className: Name, code: string): ErrorClass<Name> {
  return class extends EsignError {
    static override readonly name = className;
    override readonly name = className;
    constructor(message: string, facts: ErrorFacts = {}) {
      super(code, message, facts);
    }
  };
}

/** Returns the error for Ctrl-C at a prompt, with the prompt library's name for it. It ends the program as SIGINT does. */
export function ctrlCPressed(): Error {
  return Object.assign(new Error('Ctrl-C was pressed.'), { name: 'ExitPromptError' });
}

/** Flags, arguments, files, or the configuration are invalid. Nothing was sent. */
export const UsageError = errorClass('UsageError', 'USAGE');
export type UsageError = InstanceType<typeof UsageError>;

/** Something on this machine, such as a profile or a delivery, does not exist. Nothing was sent. */
export const NotFoundError = errorClass('NotFoundError', 'NOT_FOUND');

/** The request ID was already used for another template or other signers. Nothing was sent. */
export const RequestIdUsedError = errorClass('RequestIdUsedError', 'REQUEST_ID_USED');
export type RequestIdUsedError = InstanceType<typeof RequestIdUsedError>;

/** The log has an earlier write that makes this one unnecessary, or must be resolved first. Nothing was sent. */
export const SupersededError = errorClass('SupersededError', 'SUPERSEDED');

export type GuardCode =
  | 'READ_ONLY'
  | 'RECIPIENT_NOT_ALLOWED'
  | 'TOO_MANY_EMAILS'
  | 'CONFIRMATION_REQUIRED'
  | 'POLICY_UNUSABLE';

/** A guard of the profile or the machine's policy refused a write, for this reason (a sentence). */
export class GuardError extends EsignError {
  static override readonly name = 'GuardError';
  override readonly name = 'GuardError';
  readonly reason: string;
  constructor(code: GuardCode, reason: string, facts: ErrorFacts = {}) {
    super(code, `${reason} Nothing was sent.`, facts);
    this.reason = reason;
  }
}

/** No API key is configured. */
export const NoProfileError = errorClass('NoProfileError', 'NO_PROFILE');

/** Messages by field name, as in a VALIDATION_ERROR of the API. */
export type ErrorDetails = Record<string, string[]>;

/** The envelope or template that a request is about. */
export interface Subject {
  kind: 'envelope' | 'template';
  id: string;
  /** Similar IDs, if the subject does not exist. */
  suggestions?: string[];
}

/** The service returned an error in the API's shape. `code` is the service's code, which may be undocumented. */
export class ServiceError extends EsignError {
  static override readonly name = 'ServiceError';
  override readonly name = 'ServiceError';
  readonly status: number;
  /** When the rate window resets, in ms since the epoch, if the service returned it. */
  readonly resetAt: number | undefined;
  /** From Retry-After, in ms. */
  readonly retryAfterMs: number | undefined;
  /** The envelope or template of the request, if it had one. */
  subject: Subject | undefined;

  constructor(
    code: string,
    message: string,
    facts: ErrorFacts & {
      status: number;
      resetAt?: number | undefined;
      retryAfterMs?: number | undefined;
    },
  ) {
    super(code, message, facts);
    this.status = facts.status;
    this.resetAt = facts.resetAt;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** The request got no response, because of DNS, TLS, the connection, or a timeout. */
export class NetworkError extends EsignError {
  static override readonly name = 'NetworkError';
  override readonly name = 'NetworkError';
  /** False only if the service certainly did not receive the request. */
  readonly maybeReceived: boolean;
  /** Whether an immediate retry would fail, too. */
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

/** A response that is not the API's: not JSON, truncated, a login page, or an envelope without an id. */
export class BadResponseError extends EsignError {
  static override readonly name = 'BadResponseError';
  override readonly name = 'BadResponseError';
  readonly status: number;
  /** From Retry-After, in ms. */
  readonly retryAfterMs: number | undefined;
  constructor(message: string, facts: ErrorFacts & { status: number; retryAfterMs?: number | undefined }) {
    super('BAD_RESPONSE', message, facts);
    this.status = facts.status;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** There is no API at the base URL, so nothing was done. */
export class NoApiError extends BadResponseError {
  /** The base URL that is probably right, if it is another one. */
  readonly likely: string | undefined;
  constructor(baseUrl: string, likely: string | undefined, hint: string) {
    super(`There is no API at ${baseUrl} (404).`, { status: 404, hint });
    this.likely = likely;
  }
}

/** The outcome of a write is unknown: the response was lost, and searching was inconclusive. */
export const UnknownOutcomeError = errorClass('UnknownOutcomeError', 'UNKNOWN_OUTCOME');
export type UnknownOutcomeError = InstanceType<typeof UnknownOutcomeError>;

/** An earlier write may have been done, and nothing can show it. Running the same command again doesn't help. */
export class EarlierUnknownError extends UnknownOutcomeError {}

export type StorageErrorCode =
  | 'STORAGE_NOT_CONFIGURED'
  | 'STORAGE_CREDENTIALS'
  | 'STORAGE_DENIED'
  | 'STORAGE_NOT_FOUND'
  | 'STORAGE_NOT_READY'
  | 'STORAGE_UNREACHABLE'
  | 'STORAGE_CORRUPT'
  | 'STORAGE_LOCAL';

/** A problem with the customer's bucket, its credentials, or a downloaded file. */
export class StorageError extends EsignError {
  static override readonly name = 'StorageError';
  override readonly name = 'StorageError';
  constructor(code: StorageErrorCode, message: string, facts: ErrorFacts = {}) {
    super(code, message, facts);
  }
}

/** stdout can't be written because the disk is full (OUTPUT) or its reader closed it (OUTPUT_CLOSED). */
export class OutputError extends EsignError {
  static override readonly name = 'OutputError';
  override readonly name = 'OutputError';
  declare readonly code: 'OUTPUT' | 'OUTPUT_CLOSED';
  constructor(code: 'OUTPUT' | 'OUTPUT_CLOSED', message: string, facts: ErrorFacts = {}) {
    super(code, message, facts);
  }
}

/** A journal can no longer be written. Earlier entries are safe. */
export const JournalError = errorClass('JournalError', 'JOURNAL');
export type JournalError = InstanceType<typeof JournalError>;

/**
 * Nothing needs to be done for an envelope: its signers were reminded recently, no reminder is due, its signers are not asked to sign
 * now, or the named ones have signed or declined. Commands count this as success.
 */
export class NothingToDoError extends EsignError {
  static override readonly name = 'NothingToDoError';
  override readonly name = 'NothingToDoError';
  constructor(
    code: 'REMINDED_RECENTLY' | 'NOT_DUE' | 'NOT_OPEN' | 'NOT_PENDING',
    message: string,
    facts: ErrorFacts = {},
  ) {
    super(code, message, facts);
  }
}

/** A bulk run stopped early, for the reason in `cause`. It can be resumed. */
export class StoppedError extends EsignError {
  static override readonly name = 'StoppedError';
  override readonly name = 'StoppedError';
}

/** A signature is invalid. */
export const VerificationError = errorClass('VerificationError', 'NOT_VERIFIED');
export type VerificationError = InstanceType<typeof VerificationError>;

/** Some of several items failed. Each failure was already reported. */
export const PartialError = errorClass('PartialError', 'PARTIAL');

/** A watched envelope ended in another status than expected. */
export const UnexpectedStatusError = errorClass('UnexpectedStatusError', 'UNEXPECTED_STATUS');
export type UnexpectedStatusError = InstanceType<typeof UnexpectedStatusError>;

/** A wait reached the user's `--timeout`. */
export const WaitTimeoutError = errorClass('WaitTimeoutError', 'WAIT_TIMEOUT');
export type WaitTimeoutError = InstanceType<typeof WaitTimeoutError>;

/** Returns the message with final punctuation, so that another sentence can follow it. */
export function sentenceOf(error: Error): string {
  return /[.!?\u2026]$/.test(error.message) ? error.message : `${error.message}.`;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the `code` of a system or library error, if it has one. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
