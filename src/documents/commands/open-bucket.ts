import type { Session } from '../../cli/session/session.ts';
import type { Bucket } from '../bucket/bucket.ts';

/** Opens the profile's bucket. The caller closes it. */
export async function openBucketOf(session: Session): Promise<Bucket> {
  const { storage, timeoutMs } = await session.settings();
  const { openBucket } = await import('../bucket/bucket.ts');
  return openBucket(storage, { timeoutMs: timeoutMs.value, trace: session.trace });
}
