import { basename } from 'node:path';
import { EsignError, UsageError } from '../kernel/errors.ts';
import { diskReason, isFullDisk } from '../kernel/files/disk-reason.ts';
import { makePrivateFolder, replaceAtomic } from '../kernel/files/files.ts';
import { lockFile } from '../kernel/files/lock.ts';
import type { Profiles } from './profile.ts';
import { readProfiles, STORE_FORMAT, storePath } from './store.ts';

const LOCK_TIMEOUT_MS = 15_000;

/**
 * Changes the store: reads it, applies `change`, and writes all of it. Concurrent processes take turns. The file is
 * replaced atomically, with mode 0600 in a 0700 folder.
 */
export async function updateProfiles(
  folder: string,
  change: (profiles: Profiles) => void,
): Promise<Profiles> {
  let release: (() => Promise<void>) | undefined;
  try {
    await makePrivateFolder(folder);
    release = await lockStore(storePath(folder));
    const profiles = readProfiles(folder);
    change(profiles);
    await writeProfiles(folder, profiles);
    return profiles;
  } catch (error) {
    throw error instanceof EsignError ? error : unwritable(folder, error);
  } finally {
    await release?.();
  }
}

/**
 * Writes the profiles to a new file with conf, then replaces the store with it. conf itself doesn't always write atomically: in a
 * snap, and where it can't rename, it writes in place.
 */
async function writeProfiles(folder: string, { current, profiles, others }: Profiles): Promise<void> {
  const { default: Conf } = await import('conf');
  await replaceAtomic(storePath(folder), (draft) => {
    const store = new Conf<Record<string, unknown>>({
      cwd: folder,
      configName: basename(draft, '.tmp'),
      fileExtension: 'tmp',
      configFileMode: 0o600,
      accessPropertiesByDotNotation: false,
    });
    store.store = { format: STORE_FORMAT, current, profiles, ...others };
  });
}

/**
 * Waits until a file of the config folder may be changed. Returns a function that releases the lock.
 * @throws UsageError if another process holds the lock for too long.
 */
export function lockStore(path: string): Promise<() => Promise<void>> {
  const taken = (pid: string) =>
    new UsageError(`Can't change ${path}: another esign process (${pid}) is using it.`, {
      hint: 'Run the command again when it has finished.',
    });
  return lockFile(`${path}.lock`, taken, { waitMs: LOCK_TIMEOUT_MS });
}

function unwritable(folder: string, error: unknown): UsageError {
  return new UsageError(
    `Can't write the profiles in ${folder} (${diskReason(error)}). Nothing was changed.`,
    {
      cause: error,
      hint: isFullDisk(error)
        ? 'Free some space, or use a different folder with ESIGN_CONFIG_DIR.'
        : 'Check its permissions, or use a different folder with ESIGN_CONFIG_DIR.',
    },
  );
}
