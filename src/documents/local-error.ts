import { codeOf, EsignError, messageOf, StorageError } from '../kernel/errors.ts';

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EACCES: "the folder can't be written to",
  EPERM: "the folder can't be written to",
  EROFS: 'the disk is read-only',
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'a folder has that name',
  ELOOP: 'a link stands in its place',
  ENAMETOOLONG: 'the name is too long for this disk',
  EMFILE: 'too many files are open; give a smaller --concurrency',
};

/** What the disk refused, in words; an error that has its words already stays as it is. */
export function localError(error: unknown, path: string): EsignError {
  if (error instanceof EsignError) return error;
  const why = REASONS[codeOf(error) ?? ''] ?? messageOf(error);
  return new StorageError('STORAGE_LOCAL', `Can't write ${path}: ${why}.`, {
    cause: error,
    hint: 'Mend that, or give another --dir; run again, it goes on where it stopped.',
  });
}
