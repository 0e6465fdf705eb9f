import { JournalError, UsageError } from '../kernel/errors.ts';
import { diskReason } from '../kernel/files/disk-reason.ts';

/** It can't be opened or replaced. */
export function notWritable(path: string, error: unknown): UsageError {
  return new UsageError(`Can't write the journal ${path}: ${diskReason(error)}.`, {
    cause: error,
    hint: 'Nothing is sent without a journal. Free some space, or set ESIGN_STATE_DIR to a writable folder.',
  });
}

/** An entry could not be written; those before it were. */
export function writeFailed(path: string, error: unknown): JournalError {
  return new JournalError(`Can't write the journal ${path}: ${diskReason(error)}.`, {
    cause: error,
    hint: 'Fix the problem and continue. Earlier entries are safe.',
  });
}

/** A closed journal was used. */
export function closed(path: string): JournalError {
  return new JournalError(`The journal ${path} is closed.`);
}
