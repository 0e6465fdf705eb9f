import { codeOf, messageOf } from '../errors.ts';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
  EIO: 'the disk reports an error',
  EEXIST: 'it is there already',
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'it is a folder',
  ELOOP: 'a link stands in its place',
  ENOTFILE: 'what has this name is no ordinary file',
  ENAMETOOLONG: 'the name is too long for this disk',
  EMFILE: 'too many files are open',
};

/** Why the file system refused, in words that fit behind a colon. */
export function diskReason(error: unknown): string {
  return REASONS[codeOf(error) ?? ''] ?? messageOf(error);
}

/** True for what the file system refused, as opposed to what went wrong otherwise. */
export function isDiskError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error && (codeOf(error) ?? '') in REASONS;
}
