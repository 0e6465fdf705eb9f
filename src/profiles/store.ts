import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, UsageError } from '../kernel/errors.ts';
import { diskReason } from '../kernel/files/disk-reason.ts';
import { parseJson } from '../kernel/json.ts';
import { type Profile, type Profiles, profilesFileSchema } from './profile.ts';

/** Files without a format are those of 0.1 and 0.2, which differ in nothing else. */
export const STORE_FORMAT = 'esign-profiles/1';
const FILE_NAME = 'profiles.json';

/** The profile store's path: `profiles.json` in the config folder. */
export function storePath(folder: string): string {
  return join(folder, FILE_NAME);
}

/**
 * Reads the store; empty if it doesn't exist. Reads the file itself, since loading conf
 * would cost every command its start-up time.
 * @throws UsageError with the path when the file is not readable as a store; it is left as it is.
 */
export function readProfiles(folder: string): Profiles {
  const path = storePath(folder);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { current: undefined, profiles: {} };
    throw new UsageError(`Can't read the profiles in ${path} (${diskReason(error)}).`, {
      cause: error,
      hint: 'Check its permissions, or use another folder with ESIGN_CONFIG_DIR.',
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
  const { format, current, profiles = {}, ...others } = file.data;
  if (format !== undefined && format !== STORE_FORMAT)
    throw new UsageError(`The profiles file ${path} was written by a later version of esign.`, {
      hint: 'Update esign, or name another folder with ESIGN_CONFIG_DIR. The file was left as it is.',
    });
  return { current, profiles, ...(Object.keys(others).length > 0 && { others }) };
}

function corrupt(path: string, why: string): UsageError {
  return new UsageError(`The profiles file ${path} can't be used: ${why}. It was left as it is.`, {
    hint: `Fix it with an editor, or move it away (mv '${path}' '${path}.broken') and add the profiles again.`,
  });
}

/**
 * The profile of that name.
 * @throws UsageError listing the names there are.
 */
export function profileNamed(store: Profiles, name: string): Profile {
  const profile = Object.hasOwn(store.profiles, name) ? store.profiles[name] : undefined;
  if (profile) return profile;
  const names = Object.keys(store.profiles);
  throw new UsageError(`Profile ${name} not found.`, {
    hint:
      names.length > 0
        ? `Profiles: ${names.join(', ')}.`
        : 'Add one: `esign profiles add NAME --base-url URL`.',
  });
}
