import { homedir } from 'node:os';
import { join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where profiles live: ESIGN_CONFIG_DIR, else the platform's folder for settings. */
export function configDir(env: Environment = process.env): string {
  if (env.ESIGN_CONFIG_DIR) return env.ESIGN_CONFIG_DIR;
  if (process.platform === 'win32')
    return join(env.APPDATA ?? join(homedir(), 'AppData', 'Roaming'), 'esign');
  return join(env.XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'esign');
}

/** Where journals and the sandbox's data live: ESIGN_STATE_DIR, else the platform's folder for state. */
export function stateDir(env: Environment = process.env): string {
  if (env.ESIGN_STATE_DIR) return env.ESIGN_STATE_DIR;
  if (process.platform === 'win32')
    return join(env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), 'esign');
  return join(env.XDG_STATE_HOME ?? join(homedir(), '.local', 'state'), 'esign');
}

/** Where listeners of this machine keep what they received. */
export function eventsDir(): string {
  return join(stateDir(), 'events');
}
