import { homedir } from 'node:os';
import { join, posix, win32 } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** By kind: the variable and the folder at home for Windows, then those for all others. */
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

/** Where profiles live: ESIGN_CONFIG_DIR, else the platform's folder for settings. */
export function configDir(env: Environment = process.env): string {
  return env.ESIGN_CONFIG_DIR || platformFolder('config', env);
}

/** Where journals and the sandbox's data live: ESIGN_STATE_DIR, else the platform's folder for state. */
export function stateDir(env: Environment = process.env): string {
  return env.ESIGN_STATE_DIR || platformFolder('state', env);
}

/** Where lies what can be made again at any time. */
export function cacheDir(env: Environment = process.env): string {
  const folder = platformFolder('cache', env);
  return process.platform === 'win32' ? join(folder, 'cache') : folder;
}

/** Where listeners of this machine keep what they received. */
export function eventsDir(): string {
  return join(stateDir(), 'events');
}

/** Where bulk runs of this machine are recorded. */
export function runsDir(): string {
  return join(stateDir(), 'bulk');
}

/** A variable that is empty counts as unset, and a relative one is ignored: what is secret never lands in the current folder. */
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
