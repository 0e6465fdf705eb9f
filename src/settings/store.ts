import { closeSync, fstatSync, readFileSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { NotFoundError, UsageError } from '../kernel/errors.ts';
import { diskReason } from '../kernel/files/disk-reason.ts';
import { isOwn } from '../kernel/files/ownership.ts';
import { openRegular } from '../kernel/files/regular-file.ts';
import { tryParseJson } from '../kernel/json.ts';
import { shellWord } from '../kernel/text/shell-words.ts';
import { toUtf8 } from '../kernel/text/utf8.ts';
import { type Profile, type Profiles, profilesFileSchema } from './profile.ts';

/** The format of the file. Files of 0.2 have no format, but are otherwise the same. */
export const STORE_FORMAT = 'esign-profiles/1';
const FILE_NAME = 'profiles.json';

/** Returns the path of the profile store: `profiles.json` in the config folder. */
export function storePath(folder: string): string {
  return join(folder, FILE_NAME);
}

/**
 * Reads the store. Returns an empty one if the file doesn't exist. Reads the file directly, because loading conf would slow down
 * the start of every command.
 * @throws UsageError with the path if the file is not a valid store. The file is not changed.
 */
export function readProfiles(folder: string): Profiles {
  const path = storePath(folder);
  const text = readStore(path);
  return text === undefined ? { current: undefined, profiles: {} } : parseStore(text, path);
}

/** Returns the text of the store, or undefined if it doesn't exist. */
function readStore(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openRegular(path);
    if (file === undefined) return undefined;
    requirePrivate(fstatSync(file), path);
    return toUtf8(readFileSync(file)).toString('utf8');
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`Can't read the profiles in ${path} (${diskReason(error)}).`, {
      cause: error,
      hint: 'Check its permissions, or use a different folder with ESIGN_CONFIG_DIR.',
    });
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/**
 * Refuses a store that other users can change, as ssh does for its configuration: they could name a key command, which is run, or the
 * host that gets the key.
 */
function requirePrivate(file: Stats, path: string): void {
  // Windows has other permissions.
  if (process.geteuid === undefined || (isOwn(file) && (file.mode & 0o022) === 0)) return;
  const [why, fix] = isOwn(file)
    ? ['other users can change it', 'chmod 600']
    : [`it belongs to another user (${file.uid})`, `chown ${process.geteuid()}`];
  throw new UsageError(`The profiles file ${path} is not used, because ${why}.`, {
    hint: `Check its content, then run \`${fix} ${shellWord(path)}\`.`,
  });
}

function parseStore(text: string, path: string): Profiles {
  const json = tryParseJson(text);
  if (json === undefined) throw corrupt(path, 'it is not JSON');
  const file = profilesFileSchema.safeParse(json);
  if (!file.success)
    throw corrupt(path, `${file.error.issues[0]?.path.join('.') || 'its content'} is invalid`);
  const { format, current, profiles = {}, ...others } = file.data;
  if (format !== undefined && format !== STORE_FORMAT)
    throw new UsageError(`The profiles file ${path} was written by a later version of esign.`, {
      hint: 'Upgrade esign, or use a different folder with ESIGN_CONFIG_DIR. The file was left unchanged.',
    });
  return { current, profiles, ...(Object.keys(others).length > 0 && { others }) };
}

function corrupt(path: string, why: string): UsageError {
  return new UsageError(`The profiles file ${path} can't be used: ${why}. It was left unchanged.`, {
    hint: `Fix it with an editor, or move it out of the way (mv '${path}' '${path}.broken') and add the profiles again.`,
  });
}

/**
 * Returns the profile with this name.
 * @throws NotFoundError that lists the existing names.
 */
export function profileNamed(store: Profiles, name: string): Profile {
  const profile = Object.hasOwn(store.profiles, name) ? store.profiles[name] : undefined;
  if (profile) return profile;
  const names = Object.keys(store.profiles);
  throw new NotFoundError(`Profile ${name} not found.`, {
    hint: names.length > 0 ? `Profiles: ${names.join(', ')}.` : 'Add one: `esign profiles add`.',
  });
}
