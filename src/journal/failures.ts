import { JournalError, UsageError } from '../kernel/errors.ts';
import { diskReason } from '../kernel/files/disk-reason.ts';

/** It can't be opened, or not be put in the place of another one. */
export function notWritable(path: string, error: unknown): UsageError {
  return new UsageError(`Can't write the journal ${path}: ${diskReason(error)}.`, {
    cause: error,
    hint: 'Without a journal nothing is sent. Make room or set ESIGN_STATE_DIR to a folder that can be written.',
  });
}

/** An entry could not be written; those before it were. */
export function writeFailed(path: string, error: unknown): JournalError {
  return new JournalError(`Can't write the journal ${path}: ${diskReason(error)}.`, {
    cause: error,
    hint: 'Mend that and go on: what was written before is safe.',
  });
}

/** Somebody goes on with a journal that was closed. */
export function closed(path: string): JournalError {
  return new JournalError(`The journal ${path} is closed.`);
}
