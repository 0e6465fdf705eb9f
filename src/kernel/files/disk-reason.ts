import { codeOf, messageOf } from '../errors.ts';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'the file does not exist',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is exceeded',
  EFBIG: 'the file would be too large',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the disk is read-only',
  EIO: 'the disk reported an error',
  EEXIST: 'it already exists',
  ENOTDIR: 'part of the path is not a folder',
  EISDIR: 'it is a folder',
  ELOOP: 'it is a symbolic link',
  ENOTFILE: 'it is not a regular file',
  EFOREIGN: 'it belongs to another user',
  ETOOLARGE: 'it is too large',
  ENAMETOOLONG: 'the name is too long for this disk',
  EMFILE: 'too many files are open',
};

/** Returns why a file operation failed, worded to follow a colon. */
export function diskReason(error: unknown): string {
  return REASONS[codeOf(error) ?? ''] ?? messageOf(error);
}

/** Returns why a file can't be created, worded to follow a colon. */
export function writeReason(error: unknown): string {
  return codeOf(error) === 'ENOENT' ? 'its folder does not exist' : diskReason(error);
}

/** Returns true if the disk or the quota is full. Other settings don't help then. */
export function isFullDisk(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(codeOf(error) ?? '');
}

/** Returns true for errors of the file system. */
export function isDiskError(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error && (codeOf(error) ?? '') in REASONS;
}
