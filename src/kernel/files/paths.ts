import { homedir } from 'node:os';
import { join, posix, win32 } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

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

/** Returns the folder of profiles: ESIGN_CONFIG_DIR or the system's folder for settings. */
export function configDir(env: Environment = process.env): string {
  return env.ESIGN_CONFIG_DIR || platformFolder('config', env);
}

/** Returns the folder of journals and sandbox data: ESIGN_STATE_DIR or the system's folder for state. */
export function stateDir(env: Environment = process.env): string {
  return env.ESIGN_STATE_DIR || platformFolder('state', env);
}

/** Returns the folder of files that can be recreated at any time. */
export function cacheDir(env: Environment = process.env): string {
  const folder = platformFolder('cache', env);
  return process.platform === 'win32' ? join(folder, 'cache') : folder;
}

/** Returns the folder of webhooks that `listen` received. */
export function eventsDir(): string {
  return join(stateDir(), 'events');
}

export function runsDir(): string {
  return join(stateDir(), 'runs');
}

/**
 * Returns the folder of this kind. Empty variables count as unset and relative paths are ignored, so that secrets never end up in
 * the current folder.
 */
export function platformFolder(
  kind: keyof typeof FOLDERS,
  env: Environment,
  platform: NodeJS.Platform = process.platform,
): string {
  const path = platform === 'win32' ? win32 : posix;
  const [variable, ...atHome] = FOLDERS[kind][platform === 'win32' ? 0 : 1];
  const given = env[variable];
  return given && path.isAbsolute(given)
    ? path.join(given, 'esign')
    : path.join(homedir(), ...atHome, 'esign');
}
