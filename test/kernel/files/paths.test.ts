import { homedir } from 'node:os';
import { posix, win32 } from 'node:path';
import { describe, expect, it } from 'vitest';
import { platformFolder } from '../../../src/kernel/files/paths.ts';

const ON_WINDOWS = { config: 'APPDATA', state: 'LOCALAPPDATA', cache: 'LOCALAPPDATA' };
const ELSEWHERE = { config: 'XDG_CONFIG_HOME', state: 'XDG_STATE_HOME', cache: 'XDG_CACHE_HOME' };

describe.each(['config', 'state', 'cache'] as const)('the folder for %s', (kind) => {
  it.each([
    ['linux', posix, ELSEWHERE, '/given'],
    ['darwin', posix, ELSEWHERE, '/given'],
    ['win32', win32, ON_WINDOWS, 'C:\\given'],
  ] as const)(
    'is in the home folder on %s if its variable is unset, empty, or relative',
    (platform, path, variables, given) => {
      const folder = (value?: string) => platformFolder(kind, { [variables[kind]]: value }, platform);
      expect(folder(given)).toBe(path.join(given, 'esign'));
      for (const value of [undefined, '', '.', 'esign', './x']) expect(folder(value)).toBe(folder());
      expect(folder().startsWith(path.join(homedir()))).toBe(true);
      expect(folder()).not.toBe(path.join(homedir(), 'esign'));
    },
  );
});
