import { EsignError, StorageError } from '../../kernel/errors.ts';
import { writeReason } from '../../kernel/files/disk-reason.ts';

/** Converts a disk error to a StorageError. An EsignError is returned unchanged. */
export function localError(error: unknown, path: string): EsignError {
  if (error instanceof EsignError) return error;
  return new StorageError('STORAGE_LOCAL', `Can't write ${path}: ${writeReason(error)}.`, {
    cause: error,
    hint: 'Fix the problem or choose a different folder. Then run the command again: it continues where it stopped.',
  });
}

/** Returns the error for a file that must not be replaced. */
export function fileDiffersError(path: string): StorageError {
  return new StorageError(
    'STORAGE_LOCAL',
    `${path} already exists with different content. It was not replaced.`,
    { hint: 'Use --force to replace it, or --dir to use a different folder.' },
  );
}
