import { homedir, userInfo } from 'node:os';
import { join, posix, win32 } from 'node:path';
import type { Environment } from '../environment.ts';
import { UsageError } from '../errors.ts';

/** For each kind of folder: the environment variable and the folder in the home folder, for Windows and for other systems. */
const FOLDERS = {
  config: [
    ['APPDATA', 'AppData', 'Roaming'],
    ['XDG_CONFIG_HOME', '.config'],
  ],
  state: [
    ['LOCALAPPDATA', 'AppData', 'Local'],
    ['XDG_STATE_HOME', '.local', 'state'],
  ],
  cache: [
    ['LOCALAPPDATA', 'AppData', 'Local'],
    ['XDG_CACHE_HOME', '.cache'],
  ],
} as const;

/**
 * Returns the folder of profiles: ESIGN_CONFIG_DIR or the system's folder for settings.
 * @throws UsageError if the home folder is unknown.
 */
export function configDir(): string {
  return process.env.ESIGN_CONFIG_DIR || (platformFolder('config', process.env) ?? refuseWithoutHome());
}

/**
 * Returns the folder of journals and sandbox data: ESIGN_STATE_DIR or the system's folder for state.
 * @throws UsageError if the home folder is unknown.
 */
export function stateDir(): string {
  return findStateDir() ?? refuseWithoutHome();
}

/** Returns the folder of journals and sandbox data, or undefined if the home folder is unknown. For reads that don't need it. */
export function findStateDir(): string | undefined {
  return process.env.ESIGN_STATE_DIR || platformFolder('state', process.env);
}

/** Returns the folder of files that can be recreated at any time, or undefined if the home folder is unknown. */
export function cacheDir(): string | undefined {
  const folder = platformFolder('cache', process.env);
  return folder !== undefined && process.platform === 'win32' ? join(folder, 'cache') : folder;
}

/** Returns the folder of webhooks that `listen` received. */
export function eventsDir(): string {
  return join(stateDir(), 'events');
}

export function runsDir(): string {
  return join(stateDir(), 'runs');
}

/**
 * Returns the folder of this kind, or undefined if the home folder is unknown. Empty variables count as unset and relative paths are
 * ignored, so that secrets never end up in the current folder.
 */
export function platformFolder(
  kind: keyof typeof FOLDERS,
  env: Environment,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  const path = platform === 'win32' ? win32 : posix;
  const [variable, ...atHome] = FOLDERS[kind][platform === 'win32' ? 0 : 1];
  const given = env[variable];
  if (given && path.isAbsolute(given)) return path.join(given, 'esign');
  const home = homeFolder();
  return home && path.join(home, ...atHome, 'esign');
}

/** The home folder of users that have none. Debian's system users have it in the password file. */
const NO_HOME = '/nonexistent';

/** Returns the user's home folder, or undefined without an absolute path. */
function homeFolder(): string | undefined {
  try {
    const home = homedir() || userInfo().homedir;
    return home !== NO_HOME && (posix.isAbsolute(home) || win32.isAbsolute(home)) ? home : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Sets HOME and SHELL for a user that the system doesn't know, as in a container that runs with any user ID. Node fails for such a user
 * when a library asks for them, even if the library doesn't need them.
 */
export function provideHome(): void {
  if (process.env.HOME !== undefined && process.env.SHELL !== undefined) return;
  try {
    userInfo();
  } catch {
    process.env.HOME ??= NO_HOME;
    process.env.SHELL ??= '/bin/sh';
  }
}

function refuseWithoutHome(): never {
  const { HOME } = process.env;
  const why =
    HOME && HOME !== NO_HOME ? `HOME is "${HOME}", which is not an absolute path` : 'HOME is not set';
  throw new UsageError(`There is no home folder for profiles and state: ${why}.`, {
    hint: 'Set HOME, or set ESIGN_CONFIG_DIR and ESIGN_STATE_DIR to folders that only you can read.',
  });
}
