import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { codeOf, UsageError } from '../kernel/errors.ts';
import { diskReason } from '../kernel/files/disk-reason.ts';
import { privateFolder, replaceAtomic } from '../kernel/files/files.ts';
import { lockFile } from '../kernel/files/lock.ts';
import { parseJson } from '../kernel/json.ts';
import { type Profile, type Profiles, profilesFileSchema } from './profile.ts';

const FILE_NAME = 'profiles.json';
const TURN_MS = 15_000;

/** The profile store's path: `profiles.json` in the config folder. */
export function storePath(folder: string): string {
  return join(folder, FILE_NAME);
}

/**
 * Reads the store; empty when there is none yet. Reads the file itself, since loading conf
 * would cost every command its start-up time.
 * @throws UsageError with the path when the file is not readable as a store; it is left as it is.
 */
export async function readProfiles(folder: string): Promise<Profiles> {
  const path = storePath(folder);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { current: undefined, profiles: {} };
    throw new UsageError(`Can't read the profiles in ${path} (${diskReason(error)}).`, {
      cause: error,
      hint: 'Check who may read it, or name another folder with ESIGN_CONFIG_DIR.',
    });
  }
  return parseStore(text, path);
}

function parseStore(text: string, path: string): Profiles {
  let json: unknown;
  try {
    json = parseJson(text);
  } catch {
    throw corrupt(path, 'it is not JSON');
  }
  const file = profilesFileSchema.safeParse(json);
  if (!file.success)
    throw corrupt(path, `${file.error.issues[0]?.path.join('.') || 'its content'} is not as expected`);
  return { current: file.data.current, profiles: file.data.profiles ?? {} };
}

function corrupt(path: string, why: string): UsageError {
  return new UsageError(`The profiles file ${path} can't be used: ${why}. It was left as it is.`, {
    hint: `Mend it by hand, or move it away (mv '${path}' '${path}.broken') and add the profiles again.`,
  });
}

/**
 * Changes the store: reads it, applies `change`, writes it whole. Two processes take turns; the file is
 * replaced atomically, 0600 in a 0700 folder.
 */
export async function updateProfiles(
  folder: string,
  change: (profiles: Profiles) => void,
): Promise<Profiles> {
  let release: (() => Promise<void>) | undefined;
  try {
    await privateFolder(folder);
    release = await lockStore(storePath(folder));
    const profiles = await readProfiles(folder);
    change(profiles);
    await writeProfiles(folder, profiles);
    return profiles;
  } catch (error) {
    throw error instanceof UsageError ? error : unwritable(folder, error);
  } finally {
    await release?.();
  }
}

/** conf writes in place in a snap and where it can't rename, so it writes a new file, and that becomes the store. */
async function writeProfiles(folder: string, { current, profiles }: Profiles): Promise<void> {
  const { default: Conf } = await import('conf');
  await replaceAtomic(storePath(folder), (draft) => {
    const store = new Conf<Record<string, unknown>>({
      cwd: folder,
      configName: basename(draft, '.tmp'),
      fileExtension: 'tmp',
      configFileMode: 0o600,
      accessPropertiesByDotNotation: false,
    });
    store.store = { current, profiles };
  });
}

/**
 * Waits for the turn to change a file of the config folder. Returns the release.
 * @throws UsageError when another process has it for too long.
 */
export function lockStore(path: string): Promise<() => Promise<void>> {
  const taken = (pid: string) =>
    new UsageError(`Can't change ${path}: another esign (process ${pid}) is at it.`, {
      hint: 'Run it again when that one is done.',
    });
  return lockFile(`${path}.lock`, taken, { waitMs: TURN_MS });
}

function unwritable(folder: string, error: unknown): UsageError {
  return new UsageError(
    `Can't write the profiles in ${folder} (${diskReason(error)}). Nothing was changed.`,
    {
      cause: error,
      hint: 'Check who may write there, or name another folder with ESIGN_CONFIG_DIR.',
    },
  );
}

/**
 * The profile of that name.
 * @throws UsageError listing the names there are.
 */
export function profileNamed(store: Profiles, name: string): Profile {
  const profile = Object.hasOwn(store.profiles, name) ? store.profiles[name] : undefined;
  if (profile) return profile;
  const names = Object.keys(store.profiles);
  throw new UsageError(`There is no profile named ${name}.`, {
    hint:
      names.length > 0
        ? `There is: ${names.join(', ')}.`
        : 'Add one: `esign profiles add NAME --base-url URL`.',
  });
}
