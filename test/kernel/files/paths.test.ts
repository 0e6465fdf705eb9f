import { homedir, userInfo } from 'node:os';
import { posix, win32 } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { UsageError } from '../../../src/kernel/errors.ts';
import { configDir, platformFolder, stateDir } from '../../../src/kernel/files/paths.ts';

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
      const folder = (value?: string) => platformFolder(kind, { [variables[kind]]: value }, platform) ?? '';
      expect(folder(given)).toBe(path.join(given, 'esign'));
      for (const value of [undefined, '', '.', 'esign', './x']) expect(folder(value)).toBe(folder());
      expect(folder().startsWith(path.join(homedir()))).toBe(true);
      expect(folder()).not.toBe(path.join(homedir(), 'esign'));
    },
  );
});

describe.skipIf(process.platform === 'win32')('without a home folder', () => {
  afterEach(() => vi.unstubAllEnvs());
  const homeAs = (value: string) => {
    for (const name of ['ESIGN_CONFIG_DIR', 'ESIGN_STATE_DIR', 'XDG_CONFIG_HOME', 'XDG_STATE_HOME'])
      vi.stubEnv(name, '');
    vi.stubEnv('HOME', value);
  };

  it('uses the home folder of the user if HOME is empty', () => {
    homeAs('');
    expect(configDir()).toBe(posix.join(userInfo().homedir, '.config/esign'));
    expect(stateDir()).toBe(posix.join(userInfo().homedir, '.local/state/esign'));
  });

  it.each(['./x', 'x', '~', '~/x', '.', '..'])(
    'refuses HOME=%s, which names a folder in the current one',
    (home) => {
      homeAs(home);
      for (const folder of [configDir, stateDir]) {
        expect(folder).toThrow(UsageError);
        expect(folder).toThrow(`HOME is "${home}", which is not an absolute path`);
      }
    },
  );
});
