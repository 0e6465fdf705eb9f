import { codeOf, JournalError, UsageError } from '../kernel/errors.ts';
import { diskReason, isFullDisk } from '../kernel/files/disk-reason.ts';

/** Returns the error for a journal that can't be opened. A full disk is not a usage error. */
export function notWritableError(path: string, error: unknown): JournalError | UsageError {
  const Kind = isFullDisk(error) ? JournalError : UsageError;
  return new Kind(`Can't write the journal ${path}: ${diskReason(error)}.`, {
    cause: error,
    hint: 'Nothing is sent unless it can be recorded. Free up disk space, or set ESIGN_STATE_DIR to a writable folder.',
  });
}

/** Returns the error for a journal that exists and can't be read. */
export function notReadableError(path: string, error: unknown): UsageError {
  return new UsageError(`Can't read the journal ${path}: ${diskReason(error)}.`, {
    cause: error,
    hint: 'Check its permissions, or move it out of the way.',
  });
}

/** Returns the error for an entry that couldn't be written. Earlier entries are on disk. */
export function writeFailedError(path: string, error: unknown): JournalError {
  const isDeleted = codeOf(error) === 'ENOENT';
  return new JournalError(`Can't write the journal ${path}: ${diskReason(error)}.`, {
    cause: error,
    hint: isDeleted
      ? 'It was deleted or moved while it was in use.'
      : 'Fix the problem and continue. Earlier entries are safe.',
  });
}

export function closedError(path: string): JournalError {
  return new JournalError(`The journal ${path} is closed.`);
}
