import { join } from 'node:path';
import { UsageError } from '../../../kernel/errors.ts';
import { lockFile } from '../../../kernel/files/lock.ts';

/** One sandbox per folder. Returns the release. Throws UsageError when another sandbox has the folder. */
export function lockFolder(folder: string): Promise<() => Promise<void>> {
  return lockFile(
    join(folder, 'service.lock'),
    (pid) =>
      new UsageError(`Another sandbox (process ${pid}) is using ${folder}`, {
        hint: 'Stop it first, or give this one another folder.',
      }),
  );
}
