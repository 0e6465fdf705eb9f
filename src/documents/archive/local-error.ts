import { EsignError, StorageError } from '../../kernel/errors.ts';
import { diskReason } from '../../kernel/files/disk-reason.ts';

/** What the disk refused, in words; an error that has its words already stays as it is. */
export function localError(error: unknown, path: string): EsignError {
  if (error instanceof EsignError) return error;
  const why = diskReason(error);
  return new StorageError('STORAGE_LOCAL', `Can't write ${path}: ${why}.`, {
    cause: error,
    hint: 'Mend that, or give another --dir; run again, it goes on where it stopped.',
  });
}
