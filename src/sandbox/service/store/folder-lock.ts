import { join } from 'node:path';
import { UsageError } from '../../../kernel/errors.ts';
import { lockFile } from '../../../kernel/files/lock.ts';

/**
 * Locks a folder, because only one sandbox can use it. Returns a function that unlocks it. Throws a UsageError if another sandbox uses the
 * folder.
 */
export function lockFolder(folder: string): Promise<() => Promise<void>> {
  return lockFile(
    join(folder, 'service.lock'),
    (pid) =>
      new UsageError(`Another sandbox (process ${pid}) is using ${folder}`, {
        hint: 'Stop it first, or give this one another folder.',
      }),
  );
}
