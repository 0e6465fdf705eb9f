import { randomUUID } from 'node:crypto';
import { StorageError } from '../../kernel/errors.ts';
import { openBucket } from './bucket.ts';
import { isBucketMissing } from './errors.ts';
import type { BucketSettings } from './settings.ts';

/**
 * Requests an object that doesn't exist. "Not found" means that the bucket can be reached and read. `unknown` means "access denied", which
 * a key without s3:ListBucket gets for every missing object.
 * @throws StorageError if it can't be reached, does not exist, or refuses the credentials.
 */
export async function probeBucket(
  settings: BucketSettings,
  signal?: AbortSignal,
): Promise<'yes' | 'unknown'> {
  const bucket = await openBucket(settings);
  try {
    const opened = await bucket.open(`esign/doctor/${randomUUID()}`, { signal });
    if (opened.kind === 'object') opened.cancel();
    return 'yes';
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    if (error.code === 'STORAGE_DENIED') return 'unknown';
    if (error.code === 'STORAGE_NOT_FOUND' && !isBucketMissing(error)) return 'yes';
    throw error;
  } finally {
    bucket.close();
  }
}
