interface System {
  platform: string;
  execPath: string;
  env: Readonly<Record<string, string | undefined>>;
}

interface Lock {
  packages: Readonly<Record<string, { version?: string; integrity?: string; optional?: boolean }>>;
}

export function programOf(command: string, words: string[], system?: System): [string, string[]];
export function isInstalled(lock: Lock, installed: Partial<Lock>): boolean;
