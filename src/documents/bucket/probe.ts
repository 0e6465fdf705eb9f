import { randomUUID } from 'node:crypto';
import { StorageError } from '../../kernel/errors.ts';
import { openBucket } from './bucket.ts';
import { isBucketMissing, isObjectMissing, notFromS3 } from './errors.ts';
import type { BucketSettings } from './settings.ts';

/**
 * Requests an object that doesn't exist. "Not found" means that the bucket can be reached and read. `unknown` means "access denied", which
 * a key without s3:ListBucket gets for every missing object.
 * @throws StorageError if it can't be reached, does not exist, refuses the credentials, or isn't an S3 service.
 */
export async function probeBucket(
  settings: BucketSettings,
  { timeoutMs, signal }: { timeoutMs?: number; signal?: AbortSignal } = {},
): Promise<'yes' | 'unknown'> {
  // A single attempt, because somebody is waiting for the reason of a problem.
  const bucket = await openBucket(settings, { timeoutMs, maxAttempts: 1 });
  try {
    const opened = await bucket.open(`esign/doctor/${randomUUID()}`, { signal });
    if (opened.kind === 'object') opened.cancel();
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    if (error.code === 'STORAGE_DENIED') return 'unknown';
    if (isObjectMissing(error)) return 'yes';
    if (error.code !== 'STORAGE_NOT_FOUND' || isBucketMissing(error)) throw error;
  } finally {
    bucket.close();
  }
  throw notFromS3(`The endpoint of bucket ${bucket.name} does not respond like S3.`);
}
